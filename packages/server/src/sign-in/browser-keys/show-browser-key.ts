/*
 * The key of a browser at a sign-in: it is shown once, and another one takes its place at once. A former one shows that
 * there are two holders: both end. Owns no decision about the sign-in; a key is no proof of a device.
 */
import type { Change } from '../../changes/change.ts'
import { conflict } from '../../platform/app-error.ts'
import type { BrowserKeyJwk } from '../../schema/tables/sign-in-tables.ts'
import { updateAttempt, type Attempt } from '../attempts/attempt-store.ts'
import { JOURNAL_TIMEOUT_SECONDS, lockAttempt } from '../attempts/move-attempt.ts'
import { extendSession } from '../journal/extend-session.ts'
import {
  findBrowserKeyForUpdate,
  hasFormerKey,
  insertFormerKey,
  updateBrowserKey,
  type BrowserKey,
} from './browser-key-store.ts'
import { endLockedKey } from './end-browser-key.ts'
import { isSignedBy, toKeyChallenge, toThumbprint, type KeySignature } from './key-statement.ts'

/** What a browser shows. */
export interface ShownKey {
  readonly id: string
  /** Its key, and those that may have taken its place without the browser hearing of it. */
  readonly signatures: readonly KeySignature[]
  /** What takes its place. */
  readonly next: BrowserKeyJwk
}

/** Whether the browser holds a key from now on. A browser without one forgets what it has. */
export type KeyOutcome = 'kept' | 'none'

/**
 * Takes the key that the browser of an attempt shows. What is shown by nobody who holds the key changes nothing.
 *
 * @throws AppError `not_found`; `conflict` for an attempt at another step, or whose browser has shown a key
 */
export async function showBrowserKey(
  change: Change,
  attemptId: string,
  shown: ShownKey,
  baseUrl: string,
): Promise<KeyOutcome> {
  const { tx } = change
  const attempt = await lockAttempt(change, attemptId, ['device'])
  if (attempt.browserKeyShownAt !== null) {
    throw conflict('The browser has shown its key in this sign-in.')
  }
  const at = change.now()
  const key = await findBrowserKeyForUpdate(tx, shown.id)
  const verdict =
    key === undefined || key.endedAt !== null || key.personId !== attempt.personId
      ? 'none'
      : await judge(change, key, shown, toKeyChallenge(attempt, baseUrl))
  if (key === undefined || verdict === 'none') {
    await updateAttempt(change, attempt, { browserKeyShownAt: at })
    return 'none'
  }
  if (verdict === 'copied') {
    await endLockedKey(change, key, 'copied')
    await tell(change, attempt, 'browser_key_copied', COPIED)
    await updateAttempt(change, attempt, { browserKeyShownAt: at, browserKeyId: key.id })
    return 'none'
  }
  await updateBrowserKey(tx, key.id, {
    publicJwk: JSON.stringify(shown.next),
    lastUsedAt: at,
    userAgent: attempt.userAgent,
  })
  await updateAttempt(change, attempt, { browserKeyShownAt: at, browserKeyId: key.id })
  return 'kept'
}

const COPIED =
  'The browser showed a former state of its key: its profile was copied. The key was ended, and what it had let in.'

/** What is shown: the key, a former state of it, or nothing of it. */
async function judge(
  { tx }: Change,
  key: BrowserKey,
  { id, signatures, next }: ShownKey,
  challenge: string,
): Promise<'held' | 'copied' | 'none'> {
  const statement = { challenge, keyId: id, next }
  const held = signatures
    .filter((each) => isSignedBy(each, statement))
    .map(({ publicKey }) => toThumbprint(publicKey))
  const current = toThumbprint(key.publicJwk)
  if (!held.includes(current)) return (await hasFormerKey(tx, id, held)) ? 'copied' : 'none'
  // A key that comes back would be former and the one of now.
  const isNew =
    toThumbprint(next) !== current && !(await hasFormerKey(tx, id, [toThumbprint(next)]))
  return isNew && (await insertFormerKey(tx, id, current)) ? 'held' : 'none'
}

/** Writes into the record of a sign-in what became of the key of its browser. */
export async function tell(
  change: Change,
  { authLogSessionId }: Attempt,
  type: string,
  description: string,
): Promise<void> {
  if (authLogSessionId === null) return
  await extendSession(change, authLogSessionId, {
    columns: {},
    events: [{ type, description }],
    timeoutSeconds: JOURNAL_TIMEOUT_SECONDS,
  })
}
