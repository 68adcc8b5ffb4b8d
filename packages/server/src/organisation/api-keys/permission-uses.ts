/*
 * What a key has used its permissions for and was refused for, in the last 30 days, and what other permissions
 * would have changed about it. Days are those of UTC; what a process that died had not written yet is missing.
 */
import type { Kysely } from 'kysely'
import { invalidBody } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { isPermission, PERMISSIONS } from '../../schema/permissions.ts'
import type { Schema } from '../../schema/schema.ts'
import { getKey } from './api-key-store.ts'
import { listPermissionUses, toDayBegin, type PermissionUses } from './permission-use-store.ts'

const DAYS = 30

/** How often a key asked for what a permission opens, on a day or in all. */
interface UseCounts {
  readonly allowedCount: number
  readonly refusedCount: number
}

/** What a key did with a permission, or without it. */
export interface PermissionRecord extends UseCounts {
  readonly permission: string
  /** Whether the key holds it now. */
  readonly isHeld: boolean
  readonly lastAllowedAt: Date | null
  readonly lastRefusedAt: Date | null
  readonly lastRefusedOperation: string | null
  readonly days: readonly (UseCounts & { readonly dayBeganAt: Date })[]
}

export interface PermissionHistory {
  readonly since: Date
  /** A record per permission that the key holds or has asked for. */
  readonly records: readonly PermissionRecord[]
}

/**
 * What a key did in the last 30 days, by permission.
 *
 * @throws AppError `not_found`
 */
export async function readPermissionHistory(
  db: Kysely<Schema>,
  keyId: string,
  now: Date,
): Promise<PermissionHistory> {
  const key = await getKey(db, keyId)
  const since = new Date(toDayBegin(now).getTime() - (DAYS - 1) * DAY_MS)
  const uses = Map.groupBy(
    await listPermissionUses(db, key.id, since),
    ({ permission }) => permission,
  )
  const held = new Set(key.permissions.map(({ permission }) => permission))
  const records = PERMISSIONS.filter((name) => held.has(name) || uses.has(name)).map((name) =>
    toRecord(name, held.has(name), uses.get(name) ?? []),
  )
  return { since, records }
}

function toRecord(
  permission: string,
  isHeld: boolean,
  days: readonly PermissionUses[],
): PermissionRecord {
  const last = <Member extends 'lastAllowedAt' | 'lastRefusedAt' | 'lastRefusedOperation'>(
    member: Member,
  ) => days.findLast((day) => day[member] !== null)?.[member] ?? null
  return {
    permission,
    isHeld,
    allowedCount: sum(days.map(({ allowedCount }) => allowedCount)),
    refusedCount: sum(days.map(({ refusedCount }) => refusedCount)),
    lastAllowedAt: last('lastAllowedAt'),
    lastRefusedAt: last('lastRefusedAt'),
    lastRefusedOperation: last('lastRefusedOperation'),
    days,
  }
}

/** What a request count of the last 30 days would have become with other permissions. */
export interface PermissionDryRun {
  readonly since: Date
  readonly permissions: readonly {
    readonly permission: string
    readonly isHeld: boolean
    readonly isProposed: boolean
    /** Requests that needed it, whether or not they were let through. */
    readonly requestCount: number
    /** How many of them would have been refused with what is proposed. */
    readonly wouldBeRefusedCount: number
    readonly lastAt: Date | null
  }[]
}

/**
 * Tells what a key would have been refused for in the last 30 days, had it held the proposed permissions and no
 * others. Changes nothing.
 *
 * @throws AppError `not_found`; `invalid_body` for a permission that does not exist
 */
export async function tryPermissions(
  db: Kysely<Schema>,
  keyId: string,
  proposed: readonly string[],
  now: Date,
): Promise<PermissionDryRun> {
  const unknown = proposed.findIndex((name) => !isPermission(name))
  if (unknown >= 0) {
    const message = `Must be one of ${PERMISSIONS.join(', ')}`
    throw invalidBody([{ path: `permissions.${unknown}`, message }])
  }
  const { since, records } = await readPermissionHistory(db, keyId, now)
  const known = new Set(records.map(({ permission }) => permission))
  const unasked = PERMISSIONS.filter((name) => proposed.includes(name) && !known.has(name))
  const all = [...records, ...unasked.map((name) => toRecord(name, false, []))]
  const permissions = all.map((record) => {
    const requestCount = record.allowedCount + record.refusedCount
    const isProposed = proposed.includes(record.permission)
    return {
      permission: record.permission,
      isHeld: record.isHeld,
      isProposed,
      requestCount,
      wouldBeRefusedCount: isProposed ? 0 : requestCount,
      lastAt: latest(record.lastAllowedAt, record.lastRefusedAt),
    }
  })
  return { since, permissions }
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
