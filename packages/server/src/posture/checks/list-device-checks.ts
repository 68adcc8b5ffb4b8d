/*
 * Checks together with their results on devices, for whoever judges a report. How checks apply to a kind of device is
 * kept in memory under the version that the database tells with every report, in the same snapshot: what was kept
 * under another one is not used.
 */
import type { Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OpenIssue } from '../issues/issue.ts'
import type { ChecksOfDevice, DeviceCheck } from './check-result-store.ts'
import {
  listAskedDevices,
  readDeviceKind,
  type AskedDevice,
  type DeviceKind,
  type KindCheck,
  type StoredIssue,
  type StoredResult,
} from './device-check-store.ts'

/** One of several checks of a device. */
export interface ListedDeviceCheck extends DeviceCheck {
  readonly deviceId: string
  /** Whether the device itself runs checks that are not in the list. */
  readonly hasOtherChecks: boolean
  /** Whether results follow the last round of the device whose checks are not in the list. */
  readonly hasOtherFollowers: boolean
  /** Whether any check of the device shall run again at once. */
  readonly hasRefreshes: boolean
  /** The open issues of the check on the device, exempted ones included. */
  readonly openIssues: readonly OpenIssue[]
  /** What the stored result is known again by, when it follows the last round of the device. */
  readonly following: { readonly revision: number; readonly contentHash: string } | null
}

/** Kinds that are kept: more are there only where groups overlap in very many ways. */
const KINDS_MAX = 500

/** The kinds of devices of one version. */
class KnownKinds {
  #version = ''
  readonly #checks = new Map<string, readonly KindCheck[]>()

  find(kind: DeviceKind): readonly KindCheck[] | undefined {
    return kind.version === this.#version ? this.#checks.get(toKey(kind)) : undefined
  }

  keep(kind: DeviceKind, checks: readonly KindCheck[]): void {
    if (kind.version !== this.#version || this.#checks.size >= KINDS_MAX) this.#checks.clear()
    this.#version = kind.version
    this.#checks.set(toKey(kind), checks)
  }
}

function toKey({ groupIds, platform }: DeviceKind): string {
  return `${platform} ${groupIds}`
}

const knownKinds = new KnownKinds()

/** Those of the checks that exist, by ascending ids of device and check; each device at most once. */
export async function listDeviceChecks(
  tx: Transaction<Schema>,
  asked: readonly ChecksOfDevice[],
): Promise<ListedDeviceCheck[]> {
  const askedById = new Map(asked.map(({ deviceId, checkIds }) => [deviceId, new Set(checkIds)]))
  const listed: ListedDeviceCheck[] = []
  for (const device of await listAskedDevices(tx, asked)) {
    const { deviceId } = device
    const checks = knownKinds.find(device) ?? (await readChecks(tx, deviceId))
    listed.push(...toListedChecks(device, checks, askedById.get(deviceId) ?? new Set()))
  }
  return listed
}

async function readChecks(
  tx: Transaction<Schema>,
  deviceId: string,
): Promise<readonly KindCheck[]> {
  const { checks, kind } = await readDeviceKind(tx, deviceId)
  if (kind !== undefined) knownKinds.keep(kind, checks)
  return checks
}

function toListedChecks(
  device: AskedDevice,
  checks: readonly KindCheck[],
  askedIds: ReadonlySet<string>,
): ListedDeviceCheck[] {
  const { deviceId, hasRefreshes, hundredth } = device
  const results = device.results ?? []
  const resultById = new Map(results.map((result) => [result[0], result]))
  const hasOtherChecks = checks.some(
    ({ checkId, isPaused, isTargeted, type }) =>
      isTargeted && !isPaused && type !== 'external' && !askedIds.has(checkId),
  )
  const followers = results.filter(([, , , , , , followingHash]) => followingHash !== null)
  const shared = {
    deviceId,
    hasOtherChecks,
    hasOtherFollowers: device.followersCount > followers.length,
    hasRefreshes,
  }
  const toDate = createDateReader()
  const issues = (device.issues ?? []).map((issue) => toOpenIssue(deviceId, issue))
  return checks
    .filter(({ checkId }) => askedIds.has(checkId))
    .map((check) => ({
      ...toDeviceCheck(check, hundredth, resultById.get(check.checkId), toDate),
      ...shared,
      openIssues:
        issues.length === 0 ? NONE : issues.filter((issue) => issue.checkId === check.checkId),
    }))
}

const NONE: readonly OpenIssue[] = []

/** Each member by itself: copying objects member by member takes several times as long. */
function toDeviceCheck(
  check: KindCheck,
  hundredth: number,
  result: StoredResult | undefined,
  toDate: ReadDate,
): DeviceCheck & Pick<ListedDeviceCheck, 'following'> {
  return {
    checkId: check.checkId,
    name: check.name,
    issueTitle: check.issueTitle,
    type: check.type,
    revision: check.revision,
    primaryKeyColumn: check.primaryKeyColumn,
    strategy: check.strategy,
    gracePeriodDays: check.gracePeriodDays,
    beginsBlockingOn: check.beginsBlockingOn,
    isPaused: check.isPaused,
    isTargeted: check.isTargeted,
    isBlockingAllowed: check.isBlockingInGroups && hundredth < check.rolloutPercent,
    stored: result === undefined ? null : toStored(result, toDate),
    following: result === undefined ? null : toFollowing(result),
  }
}

function toStored(
  [, status, , ranAt, statusChangedAt, failingSince]: StoredResult,
  toDate: ReadDate,
): NonNullable<DeviceCheck['stored']> {
  return {
    status,
    ranAt: ranAt === null ? null : toDate(ranAt),
    statusChangedAt: toDate(statusChangedAt),
    failingSince: failingSince === null ? null : toDate(failingSince),
  }
}

function toFollowing([
  ,
  ,
  revision,
  ,
  ,
  ,
  contentHash,
]: StoredResult): ListedDeviceCheck['following'] {
  return contentHash === null ? null : { revision, contentHash }
}

function toOpenIssue(
  subjectId: string,
  { blocksDeviceAt, detectedAt, lastRecheckedAt, ...issue }: StoredIssue,
): OpenIssue {
  return {
    ...issue,
    subjectId,
    detectedAt: new Date(detectedAt),
    blocksDeviceAt: blocksDeviceAt === null ? null : new Date(blocksDeviceAt),
    lastRecheckedAt: new Date(lastRecheckedAt),
  }
}

type ReadDate = (text: string) => Date

/** Reads times of which most are the same: the results of a round have its time. */
function createDateReader(): ReadDate {
  const known = new Map<string, Date>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const date = new Date(text)
    known.set(text, date)
    return date
  }
}
