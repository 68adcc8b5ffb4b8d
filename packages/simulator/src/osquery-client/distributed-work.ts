/*
 * What a read response asks of the agent. osquery takes its entries one after the other: those before one that
 * is at fault stand, and nothing after it is looked at. Mirrors acceptWork of osquery/distributed/distributed.cpp.
 */
import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'

/** What is taken of a read response. */
export interface DistributedWork {
  readonly queries: ReadonlyMap<string, string>
  readonly discovery: ReadonlyMap<string, string>
  /** Why the rest of the response is not looked at; undefined when nothing is at fault. */
  readonly rejection: string | undefined
  /** Seconds; undefined unless the server sent a JSON integer. */
  readonly accelerateSeconds: number | undefined
  readonly hasInvalidAcceleration: boolean
}

/** The largest value that osquery reads as an integer here. */
const INT_MAX = 2 ** 31 - 1

interface Statements {
  readonly statements: ReadonlyMap<string, string>
  readonly isWhole: boolean
}

/** The entries before the first that is at fault. */
function parseStatements(value: unknown): Statements {
  const statements = new Map<string, string>()
  if (value !== undefined && !isJsonObject(value)) return { statements, isWhole: false }
  for (const [id, sql] of Object.entries(value ?? {})) {
    if (id === '' || typeof sql !== 'string' || sql === '') return { statements, isWhole: false }
    statements.set(id, sql)
  }
  return { statements, isWhole: true }
}

/** Reads a distributed read response; discovery queries come first, and one at fault leaves no query. */
export function parseDistributedWork(body: JsonObject): DistributedWork {
  const discovery = parseStatements(body['discovery'])
  const queries = parseStatements(body['queries'])
  const nothing = { accelerateSeconds: undefined, hasInvalidAcceleration: false }
  if (!discovery.isWhole) {
    const rejection = 'Distributed discovery query does not have complete attributes'
    return { ...nothing, queries: new Map(), discovery: new Map(), rejection }
  }
  const taken = { queries: queries.statements, discovery: discovery.statements }
  if (!queries.isWhole) {
    const rejection = 'Distributed query does not have complete attributes'
    return { ...nothing, ...taken, rejection }
  }
  const accelerate = body['accelerate']
  const isSeconds = Number.isInteger(accelerate) && Math.abs(accelerate as number) <= INT_MAX
  return {
    ...taken,
    rejection: undefined,
    accelerateSeconds: isSeconds ? (accelerate as number) : undefined,
    hasInvalidAcceleration: accelerate !== undefined && !isSeconds,
  }
}
