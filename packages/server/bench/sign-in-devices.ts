/*
 * Devices that ask for work on connections of their own, are held, answer what they are asked, and pause, as osqueryd
 * does. A question for connections is answered with those of the browser that a benchmark says is on the device.
 */
import { Agent, request } from 'node:http'
import type { BenchAgent } from './bench-agents.ts'
import { READ_PATH } from './bench-agents.ts'
import { QUESTION_PREFIX } from '../src/posture/device-questions/device-question.ts'

/** A connection of a browser to a port of the proof. */
export interface BrowserSocket {
  readonly port: number
  readonly localPort: number
}

/** A device that asks for work. */
export interface WorkingDevice {
  /** Whether its request is with the service at this moment. */
  isHeld: boolean
  /** How long it stays away after an answer: `distributed_interval` as it has learned it. */
  pauseMs: number
  /** What its checks answer. */
  isFailing: boolean
  /** Of the browser that runs on it. */
  sockets: readonly BrowserSocket[]
}

export interface WorkingDevices {
  readonly devices: readonly WorkingDevice[]
  /** Has a device ask for its configuration, as it does every `config_refresh`. */
  readonly learn: (index: number) => Promise<void>
  /** Throws for a request that failed. */
  readonly assertGood: () => void
  readonly stop: () => void
}

type Row = Readonly<Record<string, string>>

const WRITE_PATH = '/osquery/distributed/write'
const CONFIG_PATH = '/osquery/config'
/** Long after the sockets of any browser of a benchmark. */
const BROWSER_AGE_SECONDS = '86400'

/** Has every agent begin, spread over one pause, with the pause of its first configuration. */
export function startDevices(
  { port }: { readonly port: number },
  agents: readonly BenchAgent[],
  pauseMs: number,
): WorkingDevices {
  const connections = new Agent({ keepAlive: true, maxSockets: Infinity })
  const post = (path: string, body: object) => postJson({ connections, port, path }, body)
  let isStopped = false
  let failure: unknown

  async function work({ nodeKey }: BenchAgent, device: WorkingDevice): Promise<void> {
    device.isHeld = true
    const { queries = {} } = await post(READ_PATH, { node_key: nodeKey }).finally(() => {
      device.isHeld = false
    })
    const ids = Object.keys(queries)
    if (ids.length === 0) return
    const answers = ids.map((id) => [id, answerOf(id, queries[id] ?? '', device)] as const)
    await post(WRITE_PATH, {
      node_key: nodeKey,
      queries: Object.fromEntries(answers),
      statuses: Object.fromEntries(ids.map((id) => [id, 0])),
    })
  }

  async function workAgain(agent: BenchAgent, device: WorkingDevice): Promise<void> {
    try {
      await work(agent, device)
    } catch (error) {
      if (!isStopped) failure ??= error
    }
    if (!isStopped) setTimeout(() => void workAgain(agent, device), device.pauseMs)
  }

  const devices = agents.map((agent, index): WorkingDevice => {
    const device: WorkingDevice = { isHeld: false, pauseMs, isFailing: false, sockets: [] }
    setTimeout(() => void workAgain(agent, device), (index / agents.length) * pauseMs)
    return device
  })
  return {
    devices,
    learn: async (index) => {
      const [agent, device] = [agents[index], devices[index]]
      if (agent === undefined || device === undefined)
        throw new Error(`there is no device ${index}`)
      const { options } = await post(CONFIG_PATH, { node_key: agent.nodeKey })
      device.pauseMs = (options?.distributed_interval ?? 0) * 1000
    },
    assertGood: () => {
      if (failure !== undefined) throw new Error('a device failed', { cause: failure })
    },
    stop: () => {
      isStopped = true
      connections.destroy()
    },
  }
}

function answerOf(id: string, sql: string, { isFailing, sockets }: WorkingDevice): readonly Row[] {
  if (!id.startsWith(QUESTION_PREFIX)) return [{ KOLIDE_CHECK_STATUS: isFailing ? 'FAIL' : 'PASS' }]
  return sockets.filter(({ port }) => sql.includes(String(port))).map(toSocketRow)
}

/** As `toSocketQuestion` asks of Linux. */
function toSocketRow({ port, localPort }: BrowserSocket): Row {
  return {
    ...{ kind: 'browser', pid: '812', root_pid: '800', uid: '1000', username: 'ada' },
    ...{ local_address: '127.0.0.1', local_port: String(localPort) },
    ...{ remote_address: '127.0.0.1', remote_port: String(port) },
    ...{ path: '/usr/lib/chromium/chromium', age: BROWSER_AGE_SECONDS },
    ...{ file_uid: '0', file_mode: '0755', user_namespace: '1', first_user_namespace: '1' },
  }
}

interface Target {
  readonly connections: Agent
  readonly port: number
  readonly path: string
}

interface AgentAnswer {
  readonly queries?: Readonly<Record<string, string>>
  readonly options?: { readonly distributed_interval: number }
}

function postJson({ connections, port, path }: Target, body: object): Promise<AgentAnswer> {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const options = { agent: connections, host: '127.0.0.1', port, path, method: 'POST', headers }
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(JSON.parse(answer) as object)
        else reject(new Error(`${path} answered ${response.statusCode ?? 0}: ${answer}`))
      })
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
