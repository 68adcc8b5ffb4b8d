import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { Row } from './agent-tables.ts'
import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'
import { PLATFORM_TYPE } from '../platform.ts'

const BACKOFF_SECONDS_MAX = 600
const DETAIL_TABLES = ['os_version', 'osquery_info', 'system_info', 'platform_info'] as const

/** Gets and keeps the node key. */
export interface Enrollment {
  /** The stored key, or a new one; undefined when enrolling failed. One enrollment at a time. */
  ensureNodeKey(): Promise<string | undefined>
}

/** The first row of each of the four tables that describe the host; tables without rows are left out. */
function collectHostDetails(context: Pick<AgentContext, 'tables'>): Record<string, Row> {
  const details: Record<string, Row> = {}
  for (const table of DETAIL_TABLES) {
    const result = context.tables.query(`SELECT * FROM ${table} LIMIT 1`)
    const row = result.outcome === 'rows' ? result.rows[0] : undefined
    if (row !== undefined) details[table] = row
  }
  return details
}

function findKey(body: JsonObject): string | undefined {
  for (const name of ['node_key', 'id']) {
    const key = body[name]
    if (typeof key === 'string' && key !== '') return key
  }
  return undefined
}

function parseBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) ? body : {}
  } catch {
    return {}
  }
}

/**
 * Enrolls as osquery does: only a key in the answer counts, whatever else it says; between attempts
 * it waits n squared seconds, at most 600, and gives up after `enrollAttemptsMax` (0: never).
 */
export function createEnrollment(context: AgentContext): Enrollment {
  let running: Promise<string | undefined> | undefined

  async function requestKey(): Promise<string | undefined> {
    const flags = context.flags()
    const body = JSON.stringify({
      enroll_secret: context.enrollSecret.trim(),
      host_identifier: context.hostIdentifier,
      platform_type: PLATFORM_TYPE[context.platform],
      host_details: collectHostDetails(context),
    })
    context.counters.requests += 1
    const result = await context.transport.post({
      path: flags.paths.enroll,
      body,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': `osquery/${flags.agentVersion}`,
      },
    })
    if (result.kind === 'unreachable') context.counters.unreachable += 1
    const key = result.kind === 'answered' ? findKey(parseBody(result.text)) : undefined
    if (key === undefined) {
      context.counters.failures += 1
      context.counters.enrollmentFailures += 1
    } else {
      context.counters.successes += 1
    }
    return key
  }

  async function enroll(): Promise<string | undefined> {
    const attemptsMax = context.flags().enrollAttemptsMax
    for (let attempt = 1; !context.lifetime.isOver(); attempt += 1) {
      const key = await requestKey()
      if (context.lifetime.isOver()) return undefined
      if (key !== undefined) {
        context.state.nodeKey = key
        context.counters.enrollments += 1
        return key
      }
      context.logStatus(1, `Failed enrollment request (attempt ${attempt})`)
      if (attempt === attemptsMax) return undefined
      const waitSeconds = Math.min(attempt * attempt, BACKOFF_SECONDS_MAX)
      if (!(await context.lifetime.sleep(waitSeconds * SECOND_MS))) return undefined
    }
    return undefined
  }

  return {
    async ensureNodeKey() {
      if (context.state.nodeKey !== undefined) return context.state.nodeKey
      running ??= enroll().finally(() => (running = undefined))
      return running
    },
  }
}
