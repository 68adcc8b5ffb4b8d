/*
 * The load on the versions: simulated devices and agents whose check passes and fails in turns, through the balancer;
 * calls of REST to every process in rotation. Each agent keeps what was acknowledged to it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createFleet } from '@heliograph/simulator'
import { ReportingAgent } from '../../packages/server/test/e2e/support/reporting-agent.ts'
import type { JudgingReceiver } from './judging-receiver.ts'
import { runCommand, type Environment, type ServiceSlot } from './service-slot.ts'
import type { VersionTree } from './version-tree.ts'

const AGENTS = 6
const SIMULATED_DEVICES = 20
const CALL_PAUSE_MS = 100
const COMPLIANCE_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const LISTS = ['/devices', '/issues', '/checks', '/ssf_streams', '/people', '/audit_logs']

export interface LoadOptions {
  readonly baseUrl: string
  readonly environment: Environment
  readonly slots: readonly ServiceSlot[]
  /** The version whose commands set the installation up. */
  readonly version: VersionTree
  readonly receiver: JudgingReceiver
  readonly receiverUrl: string
}

export interface VersionLoad {
  readonly problems: readonly string[]
  readonly callCount: number
  eventCount(): number
  countQueued(): Promise<number>
  /** Ends it; what is under way comes to its end. Safe to call twice. */
  stop(): Promise<void>
}

interface Api {
  readonly key: string
  readonly streamPath: string
}

/** Sets up a stream to the receiver and starts everything. */
export async function startLoad(options: LoadOptions): Promise<VersionLoad> {
  const { baseUrl, slots, receiver } = options
  const command = (...args: string[]) => runCommand(options.version, options.environment, args)
  const key = await createKey(command)
  await command('organisation', 'set', '--compliance-threshold', 'notified')
  const { secret } = (await command('enrollment-secrets', 'create', '--name', 'load')) as {
    secret: string
  }
  const api = { key, streamPath: await createStream(options, key) }
  const failing = new Set([await findCheckId(baseUrl, key)])
  const agents = Array.from(
    { length: AGENTS },
    (_, index) => new ReportingAgent(baseUrl, `agent-${index}`, failing),
  )
  for (const agent of agents) await agent.enroll(secret)
  const fleet = createFleet({
    baseUrl,
    enrollSecret: secret,
    count: SIMULATED_DEVICES,
    startSpreadMs: 2_000,
    flags: { distributedIntervalSeconds: 2 },
  })
  fleet.start()
  const ending = new AbortController()
  const state = { problems: [] as string[], callCount: 0 }
  const running = [
    ...agents.map((agent) => agent.run(ending.signal)),
    callAll(slots, api, state, ending.signal),
  ]
  return {
    get problems() {
      const refused = agents.filter(({ nodeInvalidCount }) => nodeInvalidCount > 0)
      return [
        ...state.problems,
        ...refused.map(({ hostIdentifier }) => `${hostIdentifier} was told node_invalid`),
      ]
    },
    get callCount() {
      return state.callCount
    },
    eventCount: () => receiver.count,
    async countQueued() {
      const health = await readJson(`${baseUrl}${api.streamPath}/health`, key)
      return (health as { queue: { count: number } }).queue.count
    },
    async stop() {
      ending.abort()
      await Promise.all(running)
      await fleet.stop()
    },
  }
}

/** Calls every process in rotation in turns: lists, and a change of the stream. */
async function callAll(
  slots: readonly ServiceSlot[],
  { key, streamPath }: Api,
  state: { readonly problems: string[]; callCount: number },
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    for (const slot of slots.filter(({ isInRotation }) => isInRotation)) {
      const path = LISTS[turn % LISTS.length] ?? ''
      const name = slot.version?.name ?? ''
      await call(`${slot.url}${path}?per_page=20`, key).catch((error: unknown) => {
        // The process may have been taken out of rotation since.
        if (slot.isInRotation) state.problems.push(`${path} at ${name}: ${String(error)}`)
      })
      const body = { description: `after ${turn} turns` }
      await call(`${slot.url}${streamPath}`, key, body).catch((error: unknown) => {
        if (slot.isInRotation) state.problems.push(`PATCH stream at ${name}: ${String(error)}`)
      })
      state.callCount += 2
    }
    await sleep(CALL_PAUSE_MS)
  }
}

/** Answers the body; @throws Error with the status when the call is refused. */
async function call(url: string, key: string, change?: object): Promise<unknown> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(change && { method: 'PATCH', body: JSON.stringify(change) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

function readJson(url: string, key: string): Promise<unknown> {
  return call(url, key)
}

async function createKey(command: (...args: string[]) => Promise<unknown>): Promise<string> {
  const admin = ['--email', 'admin@example.com', '--first-name', 'Ada', '--last-name', 'Admin']
  await command('admins', 'create', ...admin)
  const permission = 'Manage Shared Signals Framework Streams=load'
  const responsible = ['--responsible', 'admin@example.com', '--permission', permission]
  const created = await command('keys', 'create', '--name', 'load', ...responsible)
  return (created as { key: string }).key
}

/** Creates a numbered push stream; answers its path. */
async function createStream(
  { baseUrl, receiver, receiverUrl }: LoadOptions,
  key: string,
): Promise<string> {
  const response = await fetch(`${baseUrl}/ssf_streams`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'load',
      delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: receiverUrl },
      events_requested: [COMPLIANCE_CHANGE],
      heliograph_sequence: true,
    }),
  })
  if (response.status !== 201)
    throw new Error(`the stream was not created: ${await response.text()}`)
  const { id, aud } = (await response.json()) as { id: string; aud: string }
  receiver.verifyBy(baseUrl, aud)
  return `/ssf_streams/${id}`
}

/** A check for Linux whose failure makes a device Notified. */
async function findCheckId(baseUrl: string, key: string): Promise<string> {
  const { data } = (await readJson(`${baseUrl}/checks?query=slug:firewall`, key)) as {
    data: { id: string }[]
  }
  const id = data[0]?.id
  if (id === undefined) throw new Error('there is no firewall check')
  return id
}
