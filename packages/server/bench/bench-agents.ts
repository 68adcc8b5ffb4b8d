/*
 * Devices as the agent intake sees them, with no more behind them than their requests: they enroll,
 * ask for work and answer it. What they answer is the benchmark's choice; real osquery behaviour is
 * the simulator's.
 */
import { Pool } from 'undici'
import type { BenchRun } from './scenario.ts'

type CheckStatus = 'PASS' | 'FAIL'

/** An enrolled device. */
export interface BenchAgent {
  /** Its number, from 1, which ends its serial. */
  readonly index: number
  readonly nodeKey: string
  /** The ids of the checks that it was given to run. */
  readonly queryIds: readonly string[]
}

export interface AgentFleet {
  readonly agents: readonly BenchAgent[]
  /** Has every device check in; rejects when one is given work. */
  readonly checkInIdle: () => Promise<void>
  /** Sends an answer to some of the checks of a device; rejects unless it is accepted. */
  readonly answer: (
    agent: BenchAgent,
    queryIds: readonly string[],
    status: CheckStatus,
  ) => Promise<void>
}

/** Where devices enroll. */
export const ENROLL_PATH = '/osquery/enroll'
/** Where devices ask for work. */
export const READ_PATH = '/osquery/distributed/read'

const CONNECTIONS = 32
const ENROLLED_AT_ONCE = 8
const STATUS_COLUMN = 'KOLIDE_CHECK_STATUS'
/** osquery's bit for Linux. */
const PLATFORM_TYPE_LINUX = 9

/** Enrolls Linux devices and answers their first round of checks with PASS. */
export async function enrollAgents(
  run: BenchRun,
  service: { readonly url: string },
  options: { readonly secret: string; readonly count: number },
): Promise<AgentFleet> {
  const pool = new Pool(service.url, { connections: CONNECTIONS, keepAliveTimeout: 60_000 })
  run.cleanup.add(() => pool.destroy())
  const post = (path: string, body: object) => postJson(pool, path, body)

  async function answer(
    { nodeKey }: Pick<BenchAgent, 'nodeKey'>,
    queryIds: readonly string[],
    status: CheckStatus,
  ): Promise<void> {
    await post('/osquery/distributed/write', {
      node_key: nodeKey,
      queries: Object.fromEntries(queryIds.map((id) => [id, [{ [STATUS_COLUMN]: status }]])),
      statuses: Object.fromEntries(queryIds.map((id) => [id, 0])),
    })
  }

  async function enroll(index: number): Promise<BenchAgent> {
    const enrolled = await post(ENROLL_PATH, enrollmentOf(index, options.secret))
    const nodeKey = String(enrolled['node_key'])
    const { queries } = await post(READ_PATH, { node_key: nodeKey })
    const queryIds = Object.keys(queries ?? {})
    await answer({ nodeKey }, queryIds, 'PASS')
    return { index, nodeKey, queryIds }
  }

  const agents: BenchAgent[] = []
  let next = 0
  async function enrollInTurn(): Promise<void> {
    while (next < options.count) {
      run.signal.throwIfAborted()
      next += 1
      agents.push(await enroll(next))
    }
  }
  await Promise.all(Array.from({ length: ENROLLED_AT_ONCE }, enrollInTurn))

  async function checkInIdle(): Promise<void> {
    for (const { nodeKey } of agents) {
      run.signal.throwIfAborted()
      const { queries } = await post(READ_PATH, { node_key: nodeKey })
      const count = Object.keys(queries ?? {}).length
      if (count > 0) throw new Error(`a device that should be idle was given ${count} queries`)
    }
  }

  return { agents, answer, checkInIdle }
}

/** What the n-th device sends to enroll. */
export function enrollmentOf(index: number, secret: string): object {
  const name = `bench-${index}`
  return {
    enroll_secret: secret,
    host_identifier: name,
    platform_type: String(PLATFORM_TYPE_LINUX),
    host_details: {
      os_version: { name: 'Ubuntu', platform: 'ubuntu', platform_like: 'debian', version: '24.04' },
      osquery_info: { version: '5.19.0' },
      system_info: {
        computer_name: name,
        hostname: name,
        hardware_model: 'Example 14',
        hardware_serial: `BENCH${index}`,
        uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      },
    },
  }
}

async function postJson(
  pool: Pool,
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.body.text()
  const answer = JSON.parse(text) as Record<string, unknown>
  if (response.statusCode === 200 && answer['error'] === undefined) return answer
  throw new Error(`${path} answered ${response.statusCode}: ${text}`)
}
