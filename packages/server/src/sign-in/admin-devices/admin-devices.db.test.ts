import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  AdminDeviceWorld,
  PERSON_COOKIE,
  type AdminBrowser,
  type ConsoleAnswer,
  type DeviceOwnerOptions,
} from '../../../test/support/admin-device-world.ts'
import { createTestKey } from '../../../test/support/api-keys.ts'
import {
  composeProcess,
  composeTestApi,
  type ComposedApi,
} from '../../../test/support/composed-api.ts'
import type { TestSessionOptions } from '../../../test/support/console-session.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from '../../../test/support/factories.ts'
import { inOrder, insertApplication } from '../../../test/support/sign-in-fixtures.ts'
import { listAuditEntries } from '../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { methodsOf } from '../../platform/http/operation.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'

let api: ComposedApi
let world: AdminDeviceWorld

beforeAll(async () => {
  api = await composeTestApi({
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '100000' },
    log: SILENT_LOGGER,
  })
  world = new AdminDeviceWorld(api)
})
afterAll(() => api.close())
beforeEach(() => world.requireDevices(true))

const db = () => api.services.db

const AT = new Date('2026-01-02T03:04:05.678Z')

/** An admin at a device that is trusted. */
async function bindNew(options: DeviceOwnerOptions = {}, session: TestSessionOptions = {}) {
  const browser = await world.signIn(session)
  const owner = await world.addOwner(browser.email, options)
  expect(await browser.bind(owner.cookie)).toMatchObject({ status: 200 })
  return { browser, owner }
}

const problemOf = ({ body }: ConsoleAnswer) =>
  (body['trusted_device'] as { readonly problem: string | null } | undefined)?.problem

describe('a session of an admin whose device is not known', () => {
  it('opens nothing of the API but itself and the way to a device', async () => {
    const { headers } = await world.signIn()
    const closed = api.routes.filter(
      ({ access, opensWithoutDevice }) => access !== 'public' && !opensWithoutDevice,
    )
    expect(closed.length).toBeGreaterThan(200)
    for (const route of closed) {
      for (const method of methodsOf(route)) {
        const url = route.path.replaceAll(/:\w+/g, '1')
        expect([method, url, (await world.ask(method, url, headers)).code]).toEqual([
          ...[method, url, 'trusted_device_required'],
        ])
      }
    }
    const open = api.routes.filter(({ opensWithoutDevice }) => opensWithoutDevice)
    expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'DELETE /console/session',
      'GET /console/session',
      'POST /console/session/device',
    ])
  })

  it('is told so, and may sign out', async () => {
    const browser = await world.signIn()
    expect((await browser.get('/console/session')).body).toMatchObject({
      trusted_device: { required: true, problem: 'unbound' },
    })
    expect((await world.ask('DELETE', '/console/session', browser.headers)).status).toBe(204)
    expect((await browser.get('/console/session')).status).toBe(401)
  })

  it('opens everything where no device is asked for, and keys are never asked', async () => {
    const browser = await world.signIn()
    const authorization = `Bearer ${await createTestKey(api.services, [])}`
    expect((await world.ask('GET', '/devices', { authorization })).status).toBe(200)
    await world.requireDevices(false)
    expect((await browser.get('/devices')).status).toBe(200)
  })

  it('is refused with the first request after the switch was turned on, and a bound one is not', async () => {
    const browser = await world.signIn()
    const { browser: bound } = await bindNew()
    for (const isRequired of [false, true, false, true]) {
      await world.requireDevices(isRequired)
      const { code } = await browser.get('/devices')
      expect(code).toBe(isRequired ? 'trusted_device_required' : undefined)
      await world.requireDevices(false)
      expect((await bound.get('/devices')).status).toBe(200)
      await world.requireDevices(isRequired)
      expect((await bound.get('/devices')).status).toBe(200)
    }
  })

  it('that a one-time link began gets no further: the way to sign in comes after the device', async () => {
    const browser = await world.signIn({ isSetupPending: true })
    const options = () => world.ask('POST', '/console/session/passkeys/options', browser.headers)
    expect((await options()).code).toBe('trusted_device_required')
    const { cookie } = await world.addOwner(browser.email)
    expect(await browser.bind(cookie)).toMatchObject({
      status: 200,
      body: { setup_required: true },
    })
    expect((await options()).status).toBe(200)
    expect((await browser.get('/devices')).code).toBe('sign_in_setup_required')
  })
})

describe('binding a session to its device', () => {
  it('opens the console, and is in the audit log', async () => {
    const { browser, owner } = await bindNew()
    expect((await browser.get('/devices')).status).toBe(200)
    expect(problemOf(await browser.get('/console/session'))).toBeNull()
    const target = { type: 'admin_session', id: browser.id }
    const [entry] = await listAuditEntries({ db: db() }, target, 'admin_session.device_bound')
    expect(entry?.after).toEqual({
      device_id: owner.deviceId,
      person_id: owner.personId,
      assurance: 'live',
    })
  })

  it('takes an address in other letters for the same', async () => {
    const browser = await world.signIn()
    const { cookie } = await world.addOwner(browser.email.toUpperCase())
    expect((await browser.bind(cookie)).status).toBe(200)
  })

  it('gives the session another token, and the one before is dead at once', async () => {
    const browser = await world.signIn()
    const { cookie } = await world.addOwner(browser.email)
    const before = browser.headers
    await browser.bind(cookie)
    expect(browser.headers['cookie']).not.toBe(before['cookie'])
    expect((await world.ask('GET', '/console/session', before)).status).toBe(401)
  })

  it('keeps the step-up as it was', async () => {
    const { browser } = await bindNew({}, { isSteppedUp: false })
    expect((await browser.get('/console/session')).body['stepped_up_until']).toBeNull()
  })

  it('needs a page of the console', async () => {
    const browser = await world.signIn()
    const { cookie } = await world.addOwner(browser.email)
    const headers = { cookie: `${browser.headers['cookie']}; ${cookie}` }
    const answer = await world.ask('POST', '/console/session/device', headers)
    expect(answer.code).toBe('cross_site_request')
  })

  it('needs the cookie of the person: that of the admin alone, once stolen, binds nothing', async () => {
    const browser = await world.signIn()
    await world.addOwner(browser.email)
    for (const cookie of [undefined, `${PERSON_COOKIE}=guessed`, `${PERSON_COOKIE}=`]) {
      const { status, code } = await browser.bind(cookie)
      expect([status, code]).toEqual([403, 'trusted_device_required'])
    }
    expect((await browser.get('/devices')).code).toBe('trusted_device_required')
  })

  it('is refused with the device of another person, which is in the audit log', async () => {
    const browser = await world.signIn()
    const other = await world.addOwner(`${randomUUID()}@example.com`)
    const answer = await browser.bind(other.cookie)
    expect(answer.body['message']).toContain('another email address')
    expect((await browser.get('/devices')).code).toBe('trusted_device_required')
    const target = { type: 'admin_session', id: browser.id }
    const [entry] = await listAuditEntries({ db: db() }, target, 'admin_session.device_refused')
    expect(entry?.after).toEqual({ problem: 'other_person' })
  })

  it.each([
    ['that nothing but the key of a browser tells', 'not proven', { grant: { assurance: 'key' } }],
    ['of whom the break-glass group let in', 'not proven', { grant: { assurance: 'none' } }],
    ['that is Blocked', 'Blocked', { device: { auth_state: 'Blocked' } }],
    [
      'whose time to be fixed is over',
      'Blocked',
      { device: { auth_state: 'Will Block', will_block_at: new Date('2026-01-01') } },
    ],
    ['that is not enrolled', 'not registered', { device: { node_key_hash: null } }],
    [
      'that is to be deleted',
      'not registered',
      { device: { deletion_requested_at: AT, deletion_requested_by: '{}', deletion_due_at: AT } },
    ],
    ['that is not registered', 'not registered', { device: { registered_at: null } }],
    ['that is registered to nobody', 'not registered', { device: { owner_person_id: null } }],
    [
      'that anyone may use, of nobody',
      'not registered',
      { device: { owner_person_id: null, authentication_mode: 'anyone' } },
    ],
    [
      'that was proven too long ago',
      'is over',
      { grant: { grantedAt: new Date(Date.now() - 11 * MINUTE_MS) } },
    ],
  ] as const)('is refused with a device %s', async (_which, why, options) => {
    const browser = await world.signIn()
    const { cookie } = await world.addOwner(browser.email, options)
    const answer = await browser.bind(cookie)
    expect([answer.status, answer.body['message']]).toEqual([403, expect.stringContaining(why)])
    const granted = await db()
      .selectFrom('admin_session')
      .select('granted_session_id')
      .where('id', '=', browser.id)
      .executeTakeFirstOrThrow()
    expect(granted.granted_session_id).toBeNull()
  })

  it('is refused with a session of the person that has ended, or that an application was granted', async () => {
    const browser = await world.signIn()
    const ended = await world.addOwner(browser.email, {
      grant: { endedAt: new Date(), endReason: 'logout' },
    })
    expect((await browser.bind(ended.cookie)).status).toBe(403)
    const over = await world.signInToPages(ended.personId, ended.deviceId, {
      expiresAt: new Date(),
    })
    expect((await browser.bind(over)).status).toBe(403)
    const applicationId = await insertApplication(db())
    const site = await world.signInToPages(ended.personId, ended.deviceId, { applicationId })
    expect((await browser.bind(site)).status).toBe(403)
    const good = await world.signInToPages(ended.personId, ended.deviceId, {})
    expect((await browser.bind(good)).status).toBe(200)
  })

  it('is tried twenty times a minute at the most', async () => {
    const browser = await world.signIn()
    const statuses: number[] = []
    for (let count = 0; count < 21; count += 1) statuses.push((await browser.bind()).status)
    expect(statuses.filter((status) => status === 403)).toHaveLength(20)
    expect(statuses.at(-1)).toBe(429)
  })
})

describe('a bound session', () => {
  const open = new Set<Readable>()
  afterEach(() => {
    for (const stream of open) stream.destroy()
    open.clear()
  })

  it.each([
    ['device_blocked', 'its device becomes Blocked', { auth_state: 'Blocked' }],
    ['device_gone', 'its device is registered to somebody else', { owner_person_id: null }],
    ['device_gone', 'its device is enrolled no more', { node_key_hash: null }],
  ] as const)('is refused as %s when %s', async (problem, _when, values) => {
    const { browser, owner } = await bindNew()
    await db().updateTable('device').set(values).where('id', '=', owner.deviceId).execute()
    expect((await browser.get('/devices')).code).toBe('trusted_device_required')
    expect(problemOf(await browser.get('/console/session'))).toBe(problem)
  })

  it('is refused by a second process as well, at the next request, and is let in again once the device is good', async () => {
    const { http, supervisor } = await composeProcess(api.services)
    await supervisor.start()
    try {
      const { browser, owner } = await bindNew()
      expect((await browser.get('/devices', http)).status).toBe(200)
      const set = async (authState: 'Blocked' | 'Good') =>
        db()
          .updateTable('device')
          .set({ auth_state: authState })
          .where('id', '=', owner.deviceId)
          .execute()
      await set('Blocked')
      const answers = [await browser.get('/devices'), await browser.get('/devices', http)]
      expect(answers.map(({ code }) => code)).toEqual(Array(2).fill('trusted_device_required'))
      await set('Good')
      expect((await browser.get('/devices', http)).status).toBe(200)
    } finally {
      await supervisor.stop()
    }
  })

  it('is refused when an issue of the person blocks every device', async () => {
    const { browser, owner } = await bindNew()
    const checkId = await insertCheck(db())
    await insertIssue(db(), {
      check_id: checkId,
      person_id: owner.personId,
      device_id: null,
      blocks_device_at: new Date('2026-01-01'),
    })
    expect(problemOf(await browser.get('/console/session'))).toBe('device_blocked')
  })

  it('is refused when the person is switched off or has another address', async () => {
    const { browser, owner } = await bindNew()
    const set = async (values: object) =>
      db().updateTable('person').set(values).where('id', '=', owner.personId).execute()
    await set({ email: `${randomUUID()}@example.com` })
    expect(problemOf(await browser.get('/console/session'))).toBe('other_person')
    await set({ email: browser.email, deprovisioned_at: new Date() })
    expect(problemOf(await browser.get('/console/session'))).toBe('person_switched_off')
  })

  it('is refused when what it was granted is ended, and not when the person leaves the own pages', async () => {
    const { browser, owner } = await bindNew()
    await world.ask('POST', '/sign-in/me/sign-out', {
      cookie: owner.cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect((await browser.get('/devices')).status).toBe(200)
    await api.services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      endSessionsOf(change, { personId: owner.personId }, 'admin'),
    )
    expect(problemOf(await browser.get('/console/session'))).toBe('proof_ended')
    expect((await browser.get('/devices')).code).toBe('trusted_device_required')
  })

  it('takes what it was granted along when it ends, or is bound anew', async () => {
    const { browser, owner } = await bindNew()
    const listLive = async () => {
      const rows = await db()
        .selectFrom('sign_in_granted_session')
        .select('id')
        .where('person_id', '=', owner.personId)
        .where('cookie_hash', 'is', null)
        .where('ended_at', 'is', null)
        .execute()
      return rows.map(({ id }) => id)
    }
    const [first] = await listLive()
    expect((await browser.bind(owner.cookie)).status).toBe(200)
    const [second, ...others] = await listLive()
    expect(others).toEqual([])
    expect(second).not.toBe(first)
    await world.ask('DELETE', '/console/session', browser.headers)
    expect(await listLive()).toEqual([])
  })

  it('hears no more of what changes when its device becomes Blocked', async () => {
    const { browser, owner } = await bindNew()
    const answer = await api.http.inject({
      url: '/live',
      headers: browser.headers,
      payloadAsStream: true,
    })
    const stream = answer.stream()
    open.add(stream)
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await vi.waitFor(() => expect(text).toContain('event: ready'))
    await db()
      .updateTable('device')
      .set({ auth_state: 'Blocked' })
      .where('id', '=', owner.deviceId)
      .execute()
    await api.services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      change.markChanged(`devices:${owner.deviceId}`),
    )
    await vi.waitFor(() => expect(text).toContain('event: ended'))
  })
})

describe('the switch', () => {
  const PATH = '/organisation'
  const ON = { admins_require_trusted_device: true }
  const OFF = { admins_require_trusted_device: false }

  it('is turned on by nobody who would be locked out by it', async () => {
    await world.requireDevices(false)
    const browser = await world.signIn()
    const refused = await browser.patch(PATH, ON)
    expect([refused.code, refused.body['message']]).toEqual([
      'conflict',
      expect.stringContaining('lock yourself out'),
    ])
    const { cookie, deviceId } = await world.addOwner(browser.email)
    await browser.bind(cookie)
    const set = async (values: object) =>
      db().updateTable('device').set(values).where('id', '=', deviceId).execute()
    await set({ auth_state: 'Blocked' })
    expect((await browser.patch(PATH, ON)).code).toBe('conflict')
    await set({ auth_state: 'Good' })
    expect((await browser.patch(PATH, ON)).body).toMatchObject(ON)
    expect((await browser.get('/devices')).status).toBe(200)
  })

  it('is turned off after a step-up only', async () => {
    const { browser } = await bindNew({}, { isSteppedUp: false })
    expect((await browser.patch(PATH, OFF)).code).toBe('step_up_required')
    const { browser: steppedUp } = await bindNew()
    expect((await steppedUp.patch(PATH, OFF)).body).toMatchObject(OFF)
  })

  it('is moved by no key, which may send it as it is', async () => {
    const authorization = `Bearer ${await createTestKey(api.services, ['Manage Organisation'])}`
    const patch = (payload: object) => world.ask('PATCH', PATH, { authorization }, payload)
    expect((await patch(OFF)).code).toBe('permission_missing')
    expect((await patch(ON)).status).toBe(200)
    await world.requireDevices(false)
    expect((await patch(ON)).code).toBe('permission_missing')
    expect((await patch(OFF)).body).toMatchObject(OFF)
  })
})

describe('GET /admin_devices', () => {
  it('says who would be locked out, and why', async () => {
    const { browser } = await bindNew()
    const nobody = await world.signIn()
    const bare = await world.signIn()
    await insertPerson(db(), { email: bare.email })
    const blocked = await world.signIn()
    await world.addOwner(blocked.email, { device: { auth_state: 'Blocked' } })
    const spare = await world.signIn()
    const { personId } = await world.addOwner(spare.email, { device: { auth_state: 'Blocked' } })
    await insertDevice(db(), { ...inOrder(), owner_person_id: personId, name: 'the other one' })
    const listed: { id: string; problem: string | null; device_name: string | null }[] = []
    let url = '/admin_devices?per_page=2'
    while (url !== '') {
      const { body } = await browser.get(url)
      listed.push(...(body['data'] as typeof listed))
      url = (body['pagination'] as { next: string }).next.replace('https://trust.example.com', '')
    }
    const shown = ({ adminId }: AdminBrowser) => listed.find(({ id }) => id === adminId)
    expect(shown(browser)?.problem).toBeNull()
    expect(shown(nobody)?.problem).toBe('no_person')
    expect(shown(bare)?.problem).toBe('no_device')
    expect(shown(blocked)?.problem).toBe('device_blocked')
    expect(shown(spare)).toMatchObject({ problem: null, device_name: 'the other one' })
    expect(listed).toHaveLength(new Set(listed.map(({ id }) => id)).size)
  })
})
