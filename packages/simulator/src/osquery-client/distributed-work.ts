import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'

/** A read response after validation. */
export interface DistributedWork {
  readonly queries: ReadonlyMap<string, string>
  readonly discovery: ReadonlyMap<string, string>
  /** Seconds; undefined unless the server sent a JSON integer. */
  readonly accelerateSeconds: number | undefined
  readonly hasInvalidAcceleration: boolean
}

/** Why a read response is rejected as a whole. */
export interface RejectedWork {
  readonly rejection: string
}

function parseStatements(value: unknown): ReadonlyMap<string, string> | undefined {
  if (value === undefined) return new Map()
  if (!isJsonObject(value)) return undefined
  const statements = new Map<string, string>()
  for (const [id, sql] of Object.entries(value)) {
    if (id === '' || typeof sql !== 'string' || sql === '') return undefined
    statements.set(id, sql)
  }
  return statements
}

/** Reads a distributed read response; a single empty or non-string id or statement rejects it all. */
export function parseDistributedWork(body: JsonObject): DistributedWork | RejectedWork {
  const queries = parseStatements(body['queries'])
  const discovery = parseStatements(body['discovery'])
  if (discovery === undefined) {
    return { rejection: 'Distributed discovery query does not have complete attributes' }
  }
  if (queries === undefined) {
    return { rejection: 'Distributed query does not have complete attributes' }
  }
  const accelerate = body['accelerate']
  const accelerateSeconds = Number.isInteger(accelerate) ? (accelerate as number) : undefined
  const hasInvalidAcceleration = accelerate !== undefined && accelerateSeconds === undefined
  return { queries, discovery, accelerateSeconds, hasInvalidAcceleration }
}
