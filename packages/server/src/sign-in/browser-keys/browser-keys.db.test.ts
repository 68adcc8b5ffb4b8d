import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type Change, type RunChange } from '../../changes/change.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
  proveTestDevice,
} from '../../../test/support/sign-in-fixtures.ts'
import { SoftwareBrowserKey } from '../../../test/support/software-browser-key.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { newSecret } from '../../platform/ids.ts'
import { findAttempt, type Attempt } from '../attempts/attempt-store.ts'
import { postureKnown } from '../attempts/decide-posture.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'
import { updateSessionsEnded } from '../sessions/granted-session-store.ts'
import { bindBrowserKey, judgeKeyByProof } from './bind-browser-key.ts'
import { endBrowserKey } from './end-browser-key.ts'
import { takeKeyFallback } from './key-fallback.ts'
import { toKeyChallenge } from './key-statement.ts'
import { showBrowserKey } from './show-browser-key.ts'

const BASE_URL = 'https://trust.example.com'
let database: TestDatabase
let clock: ManualClock
let runChange: RunChange
let application: string
let person: { readonly id: string; readonly email: string }
let device: string

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  clock = new ManualClock()
  runChange = createChangeRunner(database.db, clock, [])
  await database.db.deleteFrom('sign_in_attempt').execute()
  await database.db.deleteFrom('sign_in_policy').execute()
  const policy = { fallbacks: ['browser_key'], browserKeyDays: 30 } as const
  await updateSignInPolicy(
    database.db,
    { ...policy, fallbacks: [...policy.fallbacks] },
    clock.now(),
  )
  application = await insertApplication(database.db, { minimum_assurance: 'key' })
  person = await addPerson()
  device = await addDevice(person.id)
})

const make = async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
  runChange({ actor: SYSTEM_ACTOR }, work)
const addPerson = async () => {
  const email = `${newSecret(6)}@example.com`
  return { id: await insertPerson(database.db, { email }), email }
}
const addDevice = async (ownerId: string) =>
  insertDevice(database.db, {
    ...inOrder(),
    owner_person_id: ownerId,
    registered_at: clock.now(),
  })
const read = async (id: string): Promise<Attempt> => {
  const attempt = await findAttempt(database.db, id)
  if (attempt === undefined) throw new Error('There is no such attempt.')
  return attempt
}
/** An attempt that waits for its device. */
const begin = async (email = person.email, isProven = true, app: string | null = application) => {
  const { attempt } = await beginTestAttempt(runChange, app)
  await identifyTestPerson(runChange, attempt.id, email, isProven)
  return read(attempt.id)
}
const challengeOf = (attempt: Attempt) => toKeyChallenge(attempt, BASE_URL)
const show = async (key: SoftwareBrowserKey, attempt: Attempt) => {
  const shown = key.show(challengeOf(attempt))
  const outcome = await make((change) => showBrowserKey(change, attempt.id, shown, BASE_URL))
  if (outcome === 'kept') key.hear()
  return outcome
}
const prove = async ({ id }: Attempt, deviceId = device) =>
  make(async (change) => {
    const proven = await proveTestDevice(async (_origin, work) => work(change), id, deviceId)
    await judgeKeyByProof(change, proven, deviceId)
    return proven
  })
/** A browser that was proven on the device of the person, and holds its key. */
async function browserOf(deviceId = device, email = person.email): Promise<SoftwareBrowserKey> {
  const attempt = await begin(email)
  const key = new SoftwareBrowserKey()
  const proven = await prove(attempt, deviceId)
  const offer = key.offer(challengeOf(attempt))
  key.id = await make((change) => bindBrowserKey(change, proven, offer, BASE_URL))
  return key
}
const keyOf = async ({ id = '' }: SoftwareBrowserKey) =>
  database.db.selectFrom('browser_key').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
/** A sign-in whose device cannot be proven. */
const notProven = async ({ id }: Attempt) =>
  make((change) => deviceNotProven(change, id, { reason: 'unavailable', evidence: {} }))
const signInByKey = async (key: SoftwareBrowserKey, email = person.email) => {
  const attempt = await begin(email)
  await show(key, attempt)
  const at = await notProven(attempt)
  if (at.stage !== 'fallback') return at
  await make((change) => takeKeyFallback(change, attempt.id))
  return make((change) => postureKnown(change, attempt.id, { isFresh: true }))
}
const audited = async (action: string) =>
  (
    await database.db
      .selectFrom('audit_entry')
      .select('description')
      .where('action', '=', action)
      .execute()
  ).map(({ description }) => description)

describe('the key of a browser', () => {
  it('is bound to the device that was just proven live, and kept at each sign-in', async () => {
    const key = await browserOf()
    const first = await keyOf(key)
    expect(first).toMatchObject({ person_id: person.id, device_id: device, ended_at: null })
    for (let times = 0; times < 3; times += 1) {
      const attempt = await begin()
      expect(await show(key, attempt)).toBe('kept')
      expect((await read(attempt.id)).browserKeyId).toBe(key.id)
    }
    expect((await keyOf(key)).public_jwk).not.toEqual(first.public_jwk)
  })

  it('is bound to no shared device for somebody whom a browser alone names', async () => {
    const shared = await insertDevice(database.db, {
      ...inOrder(),
      owner_person_id: (await addPerson()).id,
      authentication_mode: 'anyone',
    })
    const attempt = await begin(person.email, false)
    const proven = await prove(attempt, shared)
    const offer = new SoftwareBrowserKey().offer(challengeOf(attempt))
    expect(proven.stage).toBe('posture')
    expect(await make((change) => bindBrowserKey(change, proven, offer, BASE_URL))).toBeUndefined()
  })

  it('is not bound by a signature for another sign-in', async () => {
    const [attempt, other] = [await begin(), await begin()]
    const proven = await prove(attempt)
    const offer = new SoftwareBrowserKey().offer(challengeOf(other))
    expect(await make((change) => bindBrowserKey(change, proven, offer, BASE_URL))).toBeUndefined()
  })

  it('is kept by a browser that has missed answers of the service', async () => {
    const key = await browserOf()
    const unheard = await begin()
    const shown = key.show(challengeOf(unheard))
    await make((change) => showBrowserKey(change, unheard.id, shown, BASE_URL))
    const unsent = await begin()
    key.show(challengeOf(unsent))
    expect(await show(key, await begin())).toBe('kept')
    expect((await keyOf(key)).ended_at).toBeNull()
  })

  it('is shown once in a sign-in', async () => {
    const key = await browserOf()
    const attempt = await begin()
    await show(key, attempt)
    await expect(show(key, attempt)).rejects.toMatchObject({ code: 'conflict' })
    expect((await keyOf(key)).ended_at).toBeNull()
  })
})

describe('a copied profile', () => {
  it.each(['the owner', 'the copy'])('ends both, when %s comes second', async (second) => {
    const key = await browserOf()
    const copy = key.copy()
    const [one, two] = second === 'the copy' ? [key, copy] : [copy, key]
    expect(await show(one, await begin())).toBe('kept')
    const attempt = await begin()
    expect(await show(two, attempt)).toBe('none')
    expect((await keyOf(key)).end_reason).toBe('copied')
    expect(await show(one, await begin())).toBe('none')
    const { authLogSessionId } = await read(attempt.id)
    const session = await database.db
      .selectFrom('auth_log_session')
      .select('events')
      .where('id', '=', authLogSessionId ?? '')
      .executeTakeFirstOrThrow()
    expect(session.events.map(({ event_type }) => event_type)).toContain('browser_key_copied')
    expect(await audited('browser_key.ended')).toContainEqual(expect.stringContaining('was copied'))
  })

  it('ends what its key has let in', async () => {
    const key = await browserOf()
    const copy = key.copy()
    expect((await signInByKey(copy)).stage).toBe('done')
    await show(key, await begin())
    const sessions = await database.db
      .selectFrom('sign_in_granted_session')
      .select(['assurance', 'end_reason'])
      .where('person_id', '=', person.id)
      .execute()
    expect(sessions).toEqual([{ assurance: 'key', end_reason: 'browser_key' }])
  })

  it('ends also while what it has let in is ended by somebody else', async () => {
    const key = await browserOf()
    await signInByKey(key)
    const session = await database.db
      .selectFrom('sign_in_granted_session')
      .select('id')
      .where('person_id', '=', person.id)
      .executeTakeFirstOrThrow()
    const other = await database.db.startTransaction().execute()
    await updateSessionsEnded(other, [session.id], 'logout', clock.now())
    const ending = make((change) => endBrowserKey(change, key.id ?? '', { reason: 'admin' }))
    await waitForLock(database.db)
    await other.commit().execute()
    expect((await ending).endReason).toBe('admin')
  })

  it('ends when its browser is proven on another device', async () => {
    const key = await browserOf()
    const other = await addDevice(person.id)
    const attempt = await begin()
    await show(key, attempt)
    await prove(attempt, other)
    expect((await keyOf(key)).end_reason).toBe('other_device')
  })
})

describe('what is shown by nobody who holds the key', () => {
  it('is of no use at another sign-in, and ends nothing', async () => {
    const key = await browserOf()
    const [first, second] = [await begin(), await begin()]
    const shown = key.show(challengeOf(first))
    await make((change) => showBrowserKey(change, first.id, shown, BASE_URL))
    const replayed = await make((change) => showBrowserKey(change, second.id, shown, BASE_URL))
    expect(replayed).toBe('none')
    expect((await keyOf(key)).ended_at).toBeNull()
    expect((await read(second.id)).browserKeyId).toBeNull()
  })

  it('is refused for another service and another application', async () => {
    const key = await browserOf()
    const attempt = await begin()
    const elsewhere = key.show(toKeyChallenge(attempt, 'https://phishing.example.com'))
    const work = (change: Change) => showBrowserKey(change, attempt.id, elsewhere, BASE_URL)
    expect(await make(work)).toBe('none')
    expect(toKeyChallenge({ ...attempt, applicationId: '0' }, BASE_URL)).not.toBe(
      challengeOf(attempt),
    )
  })

  it('is refused with the id of a key of somebody else', async () => {
    const stranger = await addPerson()
    const key = await browserOf(await addDevice(stranger.id), stranger.email)
    expect(await show(key, await begin())).toBe('none')
    const forged = new SoftwareBrowserKey(key.id)
    expect(await show(forged, await begin(stranger.email))).toBe('none')
    expect((await keyOf(key)).ended_at).toBeNull()
  })
})

describe('the key as a way in', () => {
  it('lets its person in as `key` where no device can be proven', async () => {
    expect(await signInByKey(await browserOf())).toMatchObject({
      stage: 'done',
      assurance: 'key',
      deviceId: device,
    })
  })

  it('counts its days from the last live proof', async () => {
    const key = await browserOf()
    clock.advance(20 * DAY_MS)
    const live = await begin()
    await show(key, live)
    await prove(live)
    clock.advance(29 * DAY_MS)
    expect((await signInByKey(key)).stage).toBe('done')
    clock.advance(2 * DAY_MS)
    expect(await signInByKey(key)).toMatchObject({
      stage: 'refused',
      refusalCode: 'proof_unavailable',
    })
  })

  it('lets nobody into an application that wants more', async () => {
    application = await insertApplication(database.db, { minimum_assurance: 'approved' })
    expect((await signInByKey(await browserOf())).refusalCode).toBe('proof_unavailable')
  })

  it('lets nobody in where the policy does not have it', async () => {
    const key = await browserOf()
    await updateSignInPolicy(database.db, { fallbacks: ['admin_approval'] }, clock.now())
    const attempt = await begin()
    await show(key, attempt)
    expect((await notProven(attempt)).stage).toBe('fallback')
    await expect(make((change) => takeKeyFallback(change, attempt.id))).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it.each([
    ['was registered anew', () => ({ registered_at: new Date(clock.now().getTime() + DAY_MS) })],
    ['is registered to nobody', () => ({ registered_at: null, owner_person_id: null })],
    ['enrolls no more', () => ({ agent_disabled_at: clock.now() })],
  ])('lets nobody in whose device %s', async (_what, changes) => {
    const key = await browserOf()
    await database.db.updateTable('device').set(changes()).where('id', '=', device).execute()
    clock.advance(2 * DAY_MS)
    expect((await signInByKey(key)).refusalCode).toBe('proof_unavailable')
  })

  it('lets nobody in whose device is somebody else’s by now', async () => {
    const key = await browserOf()
    const { id } = await addPerson()
    await database.db
      .updateTable('device')
      .set({ owner_person_id: id })
      .where('id', '=', device)
      .execute()
    expect((await signInByKey(key)).refusalCode).toBe('proof_unavailable')
  })

  it('is over once its person, and nobody else, has ended it, with what it let in', async () => {
    const key = await browserOf()
    await signInByKey(key)
    const end = async (personId: string) =>
      make((change) => endBrowserKey(change, key.id ?? '', { reason: 'person', personId }))
    await expect(end((await addPerson()).id)).rejects.toMatchObject({ code: 'not_found' })
    await end(person.id)
    await expect(end(person.id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await signInByKey(key)).refusalCode).toBe('proof_unavailable')
    const live = await database.db
      .selectFrom('sign_in_granted_session')
      .select('id')
      .where('person_id', '=', person.id)
      .where('ended_at', 'is', null)
      .execute()
    expect(live).toEqual([])
  })
})
