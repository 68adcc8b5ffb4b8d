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
import { lockFreePerson, waitForLock } from '../../../test/support/wait-for-lock.ts'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { newSecret } from '../../platform/ids.ts'
import { createListener } from '../../platform/db/listener.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { decideRegistrationRequest } from '../../posture/devices/registration-requests/decide-registration-request.ts'
import { ATTEMPT_CHANNEL, findAttempt } from '../attempts/attempt-store.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { settleRegistration } from '../attempts/run-posture.ts'
import { viewOfAttempt } from '../attempts/view-attempt.ts'
import { createSessionEnder } from '../sessions/end-sessions.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'
import { findConfirmationOfAttempt, listPendingConfirmations } from './confirmation-store.ts'
import { confirmAsAdmin, confirmFromDevice } from './decide-confirmation.ts'
import { settleDecided } from './settle-decided.ts'
import { WAITING_OF_PERSON_MAX } from './request-confirmation.ts'
import { takeFallback } from './fallback-ladder.ts'
import { registerAttemptDevice } from './register-device.ts'

let database: TestDatabase
let clock: ManualClock
let runChange: RunChange
let application: string
let person: { readonly id: string; readonly email: string }

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  clock = new ManualClock()
  runChange = createChangeRunner(database.db, clock, [])
  await database.db.deleteFrom('sign_in_attempt').execute()
  await database.db.deleteFrom('sign_in_policy').execute()
  application = await insertApplication(database.db, { minimum_assurance: 'approved' })
  person = await addPerson()
})

const make = async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
  runChange({ actor: SYSTEM_ACTOR }, work)
const addPerson = async () => {
  const email = `${newSecret(6)}@example.com`
  return { id: await insertPerson(database.db, { email }), email }
}
const addDevice = async (values: Parameters<typeof insertDevice>[1] = {}) =>
  insertDevice(database.db, { ...inOrder(), registered_at: null, ...values })
const ownDevice = async () => addDevice({ owner_person_id: person.id, registered_at: clock.now() })

/** An attempt that stands at the registration of a new device. */
async function atRegistration(deviceId: string, email = person.email): Promise<string> {
  const { attempt } = await beginTestAttempt(runChange, application)
  await identifyTestPerson(runChange, attempt.id, email)
  await proveTestDevice(runChange, attempt.id, deviceId)
  return attempt.id
}
const register = async (id: string, message?: string) =>
  make((change) => registerAttemptDevice(change, id, message))
const ownerOf = async (deviceId: string) =>
  (
    await database.db
      .selectFrom('device')
      .select('owner_person_id')
      .where('id', '=', deviceId)
      .executeTakeFirst()
  )?.owner_person_id
const confirmationOf = async (attemptId: string) => {
  const found = await findConfirmationOfAttempt(database.db, attemptId)
  if (found === undefined) throw new Error('No confirmation is waited for.')
  return found
}
const confirm = async (attemptId: string, deviceId: string, code?: string) => {
  const confirmation = await confirmationOf(attemptId)
  const by = { deviceId, personId: person.id, assurance: 'live' as const }
  const decision = { isApproved: true, code: code ?? confirmation.code }
  return make((change) => confirmFromDevice(change, confirmation.id, by, decision))
}
const spendTrust = async () =>
  database.db
    .updateTable('person')
    .set({ first_device_trusted_at: clock.now() })
    .where('id', '=', person.id)
    .execute()

describe('a registration that somebody decides elsewhere', () => {
  const requestOf = async (deviceId: string) =>
    database.db
      .selectFrom('registration_request')
      .select(['id', 'status'])
      .where('device_id', '=', deviceId)
      .executeTakeFirstOrThrow()
  const waiting = async () => {
    await updateSignInPolicy(database.db, { firstRegistration: 'admin_approval' }, clock.now())
    const device = await addDevice()
    const id = await atRegistration(device)
    await register(id)
    return { id, device }
  }
  const settle = async (id: string) => {
    const attempt = await findAttempt(database.db, id)
    if (attempt === undefined) throw new Error('the sign-in is gone')
    return settleRegistration({ db: database.db, runChange, clock }, attempt)
  }

  it('goes on by itself when its request is approved, and waits for nobody any more', async () => {
    const { id, device } = await waiting()
    expect((await settle(id)).stage).toBe('registration')
    const request = await requestOf(device)
    await make((change) =>
      decideRegistrationRequest(change, request.id, { status: 'approved', internalMessage: null }),
    )
    expect((await settle(id)).stage).toBe('posture')
    expect((await settle(id)).stage).toBe('posture')
    const window = { afterId: undefined, limit: 10 }
    expect(await listPendingConfirmations(database.db, clock.now(), window)).toEqual([])
  })

  const deny = async (requestId: string, note: string) =>
    make((change) =>
      decideRegistrationRequest(change, requestId, {
        status: 'denied',
        internalMessage: 'not ours',
        endUserDenialMessage: note,
      }),
    )

  it('ends when its request is denied, with what the admin wrote, and can be confirmed by nobody any more', async () => {
    const { id, device } = await waiting()
    const confirmation = await confirmationOf(id)
    await deny((await requestOf(device)).id, 'Only computers of the company.')
    const ended = await settle(id)
    expect(ended).toMatchObject({ stage: 'refused', refusalCode: 'registration_denied' })
    const { refusal } = await viewOfAttempt({ db: database.db, clock }, ended)
    expect(refusal?.note).toBe('Only computers of the company.')
    expect(JSON.stringify(refusal)).not.toContain('not ours')
    expect((await confirmationOf(id)).status).toBe('denied')
    await expect(make((change) => confirmAsAdmin(change, confirmation.id, true))).rejects.toThrow(
      'has ended',
    )
    expect(await ownerOf(device)).toBeNull()
  })

  it('does not end for a request that was denied before, or is open again', async () => {
    const { id, device } = await waiting()
    const request = await requestOf(device)
    await deny(request.id, '')
    await make((change) => decideRegistrationRequest(change, request.id, { status: 'pending' }))
    expect((await settle(id)).stage).toBe('registration')
    await deny(request.id, '')
    expect((await settle(id)).stage).toBe('refused')
    const again = await atRegistration(device)
    clock.advance(1)
    await register(again)
    expect((await settle(again)).stage).toBe('registration')
  })

  it('does not end for what admins denied before, where another device is to confirm it now', async () => {
    const { device, id: before } = await waiting()
    await deny((await requestOf(device)).id, '')
    await settle(before)
    await spendTrust()
    await updateSignInPolicy(database.db, { furtherRegistration: 'registered_device' }, clock.now())
    clock.advance(1)
    const id = await atRegistration(device)
    await register(id)
    expect((await settle(id)).stage).toBe('registration')
  })

  it('ends also while nobody has its page open', async () => {
    const { id, device } = await waiting()
    await deny((await requestOf(device)).id, 'No.')
    const context = { db: database.db, runChange, clock, log: SILENT_LOGGER }
    for (const payload of ['', '{}', JSON.stringify({ id }), JSON.stringify({ isDecided: true })]) {
      await settleDecided(context, payload)
    }
    expect((await findAttempt(database.db, id))?.stage).toBe('registration')
    await Promise.all(
      [1, 2].map(() => settleDecided(context, JSON.stringify({ id, isDecided: true }))),
    )
    expect((await findAttempt(database.db, id))?.stage).toBe('refused')
  })

  it.each(['approved', 'denied'] as const)(
    'is told at once to whoever watches the sign-in: %s',
    async (status) => {
      const { id, device } = await waiting()
      const { connection, network } = database
      const listener = createListener(connection, { log: SILENT_LOGGER, network })
      const heard = new Promise<string>((resolve) => listener.subscribe(ATTEMPT_CHANNEL, resolve))
      listener.start()
      await listener.whenListening()
      try {
        const told = createChangeRunner(database.db, clock, [createSessionEnder()])
        const request = await requestOf(device)
        const words = { internalMessage: null, endUserDenialMessage: '' }
        await told({ actor: SYSTEM_ACTOR }, (change) =>
          decideRegistrationRequest(change, request.id, { status, ...words }),
        )
        expect(JSON.parse(await heard)).toMatchObject({ id, isDecided: status === 'denied' })
      } finally {
        await listener.stop()
      }
    },
  )

  it('settles the request of the admins with the sign-in', async () => {
    for (const isApproved of [true, false]) {
      const { id, device } = await waiting()
      const confirmation = await confirmationOf(id)
      await make((change) => confirmAsAdmin(change, confirmation.id, isApproved))
      expect((await requestOf(device)).status).toBe(isApproved ? 'approved' : 'denied')
      expect((await findAttempt(database.db, id))?.stage).toBe(isApproved ? 'posture' : 'refused')
    }
  })
})

describe('the first device of a person', () => {
  it('is registered on first use', async () => {
    const device = await addDevice()
    expect((await register(await atRegistration(device))).stage).toBe('posture')
    expect(await ownerOf(device)).toBe(person.id)
  })

  it('waits for an admin when nothing but a browser has told whose it is', async () => {
    const device = await addDevice()
    const { attempt } = await beginTestAttempt(runChange, application)
    await identifyTestPerson(runChange, attempt.id, person.email, false)
    await proveTestDevice(runChange, attempt.id, device)
    const waiting = await register(attempt.id)
    expect(waiting).toMatchObject({
      stage: 'registration',
      fallbackState: { waits_for: 'admin_approval' },
    })
    expect(await ownerOf(device)).toBeNull()
  })

  it('waits for an admin, or is refused, as the policy says', async () => {
    await updateSignInPolicy(database.db, { firstRegistration: 'admin_approval' }, clock.now())
    const waiting = await register(await atRegistration(await addDevice()))
    expect(waiting).toMatchObject({
      stage: 'registration',
      fallbackState: { waits_for: 'admin_approval' },
    })
    await updateSignInPolicy(database.db, { firstRegistration: 'refuse' }, clock.now())
    const refused = await register(await atRegistration(await addDevice()))
    expect(refused.refusalCode).toBe('registration_refused')
  })

  it('tells the admin who decides what the person wrote', async () => {
    await updateSignInPolicy(database.db, { firstRegistration: 'admin_approval' }, clock.now())
    const device = await addDevice()
    await register(await atRegistration(device), 'A loan from IT')
    const request = await database.db
      .selectFrom('registration_request')
      .select('requester_message')
      .where('device_id', '=', device)
      .executeTakeFirst()
    expect(request).toEqual({ requester_message: 'A loan from IT' })
  })

  it('is one: of two at once the second is a further one', async () => {
    const [one, two] = [await addDevice(), await addDevice()]
    const attempts = [await atRegistration(one), await atRegistration(two)]
    const stages = (await Promise.all(attempts.map((id) => register(id)))).map(({ stage }) => stage)
    expect(stages.toSorted()).toEqual(['posture', 'registration'])
  })

  it('is locked before its person, as in every change', async () => {
    const device = await addDevice()
    const id = await atRegistration(device)
    const other = await database.db.startTransaction().execute()
    await getDeviceForUpdate(other, device)
    const registering = register(id)
    await waitForLock(database.db)
    await lockFreePerson(other, person.id)
    await other.rollback().execute()
    expect((await registering).stage).toBe('posture')
  })

  it('stays with somebody else who has registered it meanwhile', async () => {
    const device = await addDevice()
    const id = await atRegistration(device)
    const other = await addPerson()
    await database.db
      .updateTable('device')
      .set({ owner_person_id: other.id, registered_at: clock.now() })
      .where('id', '=', device)
      .execute()
    expect((await register(id)).refusalCode).toBe('device_of_another_person')
    expect(await ownerOf(device)).toBe(other.id)
  })
})

describe('a further device', () => {
  beforeEach(spendTrust)

  it('is registered once the person confirms it on a registered one, with the code of the sign-in', async () => {
    const [registered, device] = [await ownDevice(), await addDevice()]
    const id = await atRegistration(device)
    const { fallbackState } = await register(id)
    expect(fallbackState).toMatchObject({ waits_for: 'registered_device' })
    expect(String(fallbackState['code'])).toMatch(/^\d{6}$/)
    expect(await ownerOf(device)).toBeNull()
    const outcome = await confirm(id, registered)
    expect(outcome).toMatchObject({ kind: 'decided', attempt: { stage: 'posture' } })
    expect(await ownerOf(device)).toBe(person.id)
    await expect(confirm(id, registered)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is denied after three wrong codes', async () => {
    const [registered, device] = [await ownDevice(), await addDevice()]
    const id = await atRegistration(device)
    await register(id)
    expect([
      (await confirm(id, registered, 'wrong')).kind,
      (await confirm(id, registered, 'wrong')).kind,
      (await confirm(id, registered, 'wrong')).kind,
    ]).toEqual(['wrong_code', 'wrong_code', 'decided'])
    expect((await findAttempt(database.db, id))?.refusalCode).toBe('registration_denied')
  })

  it('is confirmed by nobody else, by no device that is not registered, and not by itself', async () => {
    const device = await addDevice()
    const id = await atRegistration(device)
    await register(id)
    const confirmation = await confirmationOf(id)
    const stranger = await addPerson()
    const decision = { isApproved: true, code: confirmation.code }
    const confirmBy = async (deviceId: string, personId: string) => {
      const by = { deviceId, personId, assurance: 'live' as const }
      return make((change) => confirmFromDevice(change, confirmation.id, by, decision))
    }
    const ofStranger = await addDevice({
      owner_person_id: stranger.id,
      registered_at: clock.now(),
    })
    await expect(confirmBy(ofStranger, stranger.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(confirmBy(ofStranger, person.id)).rejects.toMatchObject({ code: 'conflict' })
    await expect(confirmBy(device, person.id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is approved or denied by an admin, when the policy has them decide', async () => {
    const approved = await atRegistration(await addDevice())
    const denied = await atRegistration(await addDevice())
    for (const id of [approved, denied]) await register(id)
    const window = { afterId: undefined, limit: 10 }
    const pending = await listPendingConfirmations(database.db, clock.now(), window)
    expect(pending.map(({ attemptId }) => attemptId).toSorted()).toEqual(
      [approved, denied].toSorted(),
    )
    expect(pending[0]).toMatchObject({ personEmail: person.email, kind: 'registration' })
    const decide = async (id: string, isApproved: boolean) => {
      const { id: confirmation } = await confirmationOf(id)
      return make((change) => confirmAsAdmin(change, confirmation, isApproved))
    }
    expect(await decide(approved, true)).toMatchObject({ status: 'approved' })
    expect((await findAttempt(database.db, approved))?.stage).toBe('posture')
    expect(await decide(denied, false)).toMatchObject({ status: 'denied' })
    expect((await findAttempt(database.db, denied))?.refusalCode).toBe('registration_denied')
    await updateSignInPolicy(database.db, { furtherRegistration: 'registered_device' }, clock.now())
    const alone = await atRegistration(await addDevice())
    await register(alone)
    await expect(decide(alone, true)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('goes on when an admin has approved the request for its registration', async () => {
    const device = await addDevice()
    const id = await atRegistration(device)
    await register(id)
    const request = await database.db
      .selectFrom('registration_request')
      .select('requester_person_id')
      .where('device_id', '=', device)
      .executeTakeFirst()
    expect(request?.requester_person_id).toBe(person.id)
    await database.db
      .updateTable('device')
      .set({ owner_person_id: person.id, registered_at: clock.now() })
      .where('id', '=', device)
      .execute()
    expect((await register(id)).stage).toBe('posture')
  })

  it('is confirmed in time or not at all', async () => {
    const registered = await ownDevice()
    const id = await atRegistration(await addDevice())
    await register(id)
    clock.advance(11 * MINUTE_MS)
    await expect(confirm(id, registered)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('a sign-in whose device could not be proven', () => {
  /** At the ladder of fallbacks. */
  async function atFallback(): Promise<string> {
    const { attempt } = await beginTestAttempt(runChange, application)
    await identifyTestPerson(runChange, attempt.id, person.email)
    await make((change) =>
      deviceNotProven(change, attempt.id, { reason: 'unavailable', evidence: {} }),
    )
    return attempt.id
  }
  const take = async (id: string, way: 'registered_device' | 'admin_approval', deviceId?: string) =>
    make((change) => takeFallback(change, id, { way, deviceId }))

  it('goes on as approved when another registered device confirms it', async () => {
    await updateSignInPolicy(database.db, { fallbacks: ['registered_device'] }, clock.now())
    const [device, other] = [await ownDevice(), await ownDevice()]
    const id = await atFallback()
    await take(id, 'registered_device', device)
    await expect(confirm(id, device)).rejects.toMatchObject({ code: 'conflict' })
    await confirm(id, other)
    expect(await findAttempt(database.db, id)).toMatchObject({
      stage: 'posture',
      assurance: 'approved',
      deviceId: device,
    })
  })

  it('is asked for by few sign-ins at a time from one address, and by others elsewhere', async () => {
    const known = await ownDevice()
    const ask = async (address: string) => {
      const { attempt } = await beginTestAttempt(runChange, application, address)
      await identifyTestPerson(runChange, attempt.id, person.email)
      await make((change) =>
        deviceNotProven(change, attempt.id, { reason: 'unavailable', evidence: {} }),
      )
      const wanted = { way: 'registered_device' as const, deviceId: known }
      return make((change) => takeFallback(change, attempt.id, wanted)).catch(
        (error: unknown) => error,
      )
    }
    await updateSignInPolicy(database.db, { fallbacks: ['registered_device'] }, clock.now())
    const asked = Array.from({ length: WAITING_OF_PERSON_MAX + 3 }, () => ask('192.0.2.1'))
    const refused = (await Promise.all(asked)).filter((each) => each instanceof AppError)
    expect(refused.map(({ code }) => code)).toEqual(Array(3).fill('rate_limited'))
    expect(await ask('192.0.2.2')).toMatchObject({ stage: 'fallback' })
  })

  it('takes no way that the policy does not have, and no device of somebody else', async () => {
    await updateSignInPolicy(database.db, { fallbacks: ['admin_approval'] }, clock.now())
    await ownDevice()
    const stranger = await addPerson()
    const foreign = await addDevice({ owner_person_id: stranger.id, registered_at: clock.now() })
    const id = await atFallback()
    await expect(take(id, 'registered_device')).rejects.toMatchObject({ code: 'conflict' })
    await expect(take(id, 'admin_approval', foreign)).rejects.toMatchObject({ code: 'conflict' })
    await take(id, 'admin_approval')
    const { id: confirmation } = await confirmationOf(id)
    await make((change) => confirmAsAdmin(change, confirmation, false))
    expect((await findAttempt(database.db, id))?.refusalCode).toBe('fallback_denied')
  })
})
