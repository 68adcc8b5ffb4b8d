import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from './audit/audit-entry.ts'

/** The members in which a record differs from what it was, as an audit entry tells them. */
export interface ChangedMembers {
  readonly names: readonly string[]
  readonly before: JsonObject
  readonly after: JsonObject
}

/** Compares the members of `after`, whatever the order in which nested objects hold theirs. */
export function changedMembers(before: JsonObject, after: JsonObject): ChangedMembers {
  const names = Object.keys(after).filter(
    (name) => !isDeepStrictEqual(before[name] ?? null, after[name] ?? null),
  )
  const pick = (from: JsonObject) =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]))
  return { names, before: pick(before), after: pick(after) }
}
