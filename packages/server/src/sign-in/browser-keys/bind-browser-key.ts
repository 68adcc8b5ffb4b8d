/*
 * Binds the key of a browser to the device on which it was just proven, live or by a certificate, and judges a key by
 * such a proof. Owns for whom a key may stand: who was proven, or sits at a device of their own.
 */
import type { Change } from '../../changes/change.ts'
import { newUuid } from '../../platform/ids.ts'
import { findDeviceOfPerson } from '../attempts/attempt-facts-read.ts'
import { updateAttempt, type Attempt } from '../attempts/attempt-store.ts'
import { isDeviceProof } from '../attempts/is-device-proof.ts'
import { isPersonProven } from '../attempts/person-proven.ts'
import {
  findBrowserKeyForUpdate,
  findKeyOfAttempt,
  getBrowserKeyForUpdate,
  insertBrowserKey,
  listLiveKeysOf,
  updateBrowserKey,
} from './browser-key-store.ts'
import { endLockedKey } from './end-browser-key.ts'
import { isSignedBy, toKeyChallenge, type KeySignature } from './key-statement.ts'
import { tell } from './show-browser-key.ts'

/** How many browsers a person has on one device; a new one ends the key of the one that was used least lately. */
const KEYS_PER_DEVICE_MAX = 10

/**
 * Binds a key to the device of a locked attempt that was just proven. Undefined where none is bound: its browser
 * holds one, the key is not the browser's, or it is not certain enough whose it would be.
 */
export async function bindBrowserKey(
  change: Change,
  attempt: Attempt,
  key: KeySignature,
  baseUrl: string,
): Promise<string | undefined> {
  const { tx } = change
  const { personId, deviceId, assurance, stage } = attempt
  if (personId === null || deviceId === null || stage !== 'posture') return undefined
  if (assurance === null || !isDeviceProof(assurance)) return undefined
  if ((await findKeyOfAttempt(tx, attempt.id)) !== undefined) return undefined
  const challenge = toKeyChallenge(attempt, baseUrl)
  if (!isSignedBy(key, { challenge, keyId: null, next: key.publicKey })) return undefined
  const device = await findDeviceOfPerson(tx, deviceId, personId)
  const isCertain = device?.isOwn === true || isPersonProven(attempt)
  if (device?.isAllowed !== true || !isCertain) return undefined
  return bind(change, attempt, { personId, deviceId }, key)
}

async function bind(
  change: Change,
  attempt: Attempt,
  whose: { readonly personId: string; readonly deviceId: string },
  { publicKey }: KeySignature,
): Promise<string> {
  const { tx } = change
  const at = change.now()
  const live = await listLiveKeysOf(tx, whose)
  for (const { id } of live.slice(KEYS_PER_DEVICE_MAX - 1)) {
    await endLockedKey(change, await getBrowserKeyForUpdate(tx, id), 'replaced')
  }
  const { id } = await insertBrowserKey(tx, {
    ...whose,
    id: newUuid(),
    publicJwk: JSON.stringify(publicKey),
    userAgent: attempt.userAgent,
    boundAt: at,
    lastUsedAt: at,
    lastProvenAt: at,
  })
  change.recordAudit({
    action: 'browser_key.bound',
    target: { type: 'browser_key', id },
    description: 'bound the key of a browser to the device on which it was proven',
    after: { person_id: whose.personId, device_id: whose.deviceId, attempt_id: attempt.id },
  })
  await updateAttempt(change, attempt, { browserKeyId: id })
  return id
}

const ELSEWHERE =
  'The browser holds a key that was bound to another device: its profile was copied or moved. The key was ended.'

/**
 * Judges the key that the browser of a locked attempt has shown by the device that was proven: on its own device it
 * is good for longer, unless the person was not let in there; on another one it is a copy and ends.
 */
export async function judgeKeyByProof(
  change: Change,
  attempt: Attempt,
  deviceId: string,
): Promise<void> {
  const known = await findKeyOfAttempt(change.tx, attempt.id)
  if (known === undefined) return
  const key = await findBrowserKeyForUpdate(change.tx, known.id)
  if (key === undefined || key.endedAt !== null) return
  if (key.deviceId === deviceId) {
    if (attempt.endedAt !== null) return
    await updateBrowserKey(change.tx, key.id, { lastProvenAt: change.now() })
    return
  }
  await endLockedKey(change, key, 'other_device')
  if (attempt.endedAt === null) await tell(change, attempt, 'browser_key_copied', ELSEWHERE)
}
