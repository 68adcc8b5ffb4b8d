/*
 * As which user of the operating system somebody signs in. Owns that the one whom the proof saw is compared at the
 * moment at which it counts: a device may have been registered, or got another authentication mode, since the proof.
 */
import type { Change, ChangePublisher } from '../../changes/change.ts'
import type { AttemptEvidence } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import {
  findKnownOsUsers,
  findOsUserOfRequest,
  insertOsUser,
  type OsUser,
} from './os-user-store.ts'

/** What the evidence of a sign-in says of the user as whom its browser runs. */
export function toOsUserEvidence({ uid, userName }: OsUser): AttemptEvidence {
  return { os_uid: uid, os_user: userName }
}

/**
 * The user as whom the browser ran; undefined where nobody was proven, or through a local proxy, which is of nobody.
 */
export function readOsUser({ evidence }: Pick<Attempt, 'evidence'>): OsUser | undefined {
  const { os_uid: uid, os_user: userName, is_local_proxy: isLocalProxy } = evidence
  if (typeof uid !== 'string' || isLocalProxy === true) return undefined
  return { uid, userName: typeof userName === 'string' ? userName : '' }
}

/**
 * Whether the device lets this person in as this user: as the one of before since its registration, whom nobody else
 * has, or as any where it is open to anyone.
 */
export async function isOsUserAllowed(
  { tx }: Change,
  { deviceId, personId }: OsUserOf,
  { uid }: OsUser,
): Promise<boolean> {
  const known = await findKnownOsUsers(tx, deviceId, personId, uid)
  if (known.isForAnyone) return true
  return !known.isOfAnother && (known.ofPerson ?? uid) === uid
}

/** Whose user it is, and of which device. */
interface OsUserOf {
  readonly deviceId: string
  readonly personId: string
}

/**
 * Whether a sign-in may go on with its registered device as the user whom its proof saw, who from then on is the one of
 * its person. True where the proof saw none.
 */
export async function admitOsUser(
  change: Change,
  attempt: Pick<Attempt, 'personId' | 'evidence'>,
  deviceId: string,
): Promise<boolean> {
  const user = readOsUser(attempt)
  const { personId } = attempt
  if (user === undefined || personId === null) return true
  if (!(await isOsUserAllowed(change, { deviceId, personId }, user))) return false
  await insertOsUser(change.tx, deviceId, personId, user, change.now())
  return true
}

/**
 * With the approval of a request the device is that of the requester as the user whom the proof saw, in the same
 * change: also when the sign-in that led to it is over by then.
 */
export function createOsUserBinder(): ChangePublisher {
  return async ({ tx, at, events }) => {
    for (const event of events) {
      if (event.type !== 'registration_request.approved') continue
      const user = await findOsUserOfRequest(tx, event.requestId)
      if (user !== undefined) await insertOsUser(tx, event.deviceId, event.personId, user, at)
    }
  }
}
