import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  browserRows,
  openProofWorld,
  type AnswerRow,
  type OpenedPort,
  type ProofWorld,
} from '../../../test/support/proof-world.ts'

import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type Change } from '../../changes/change.ts'
import { systemClock } from '../../platform/clock.ts'
import { isRunAs } from '../../platform/db/pool-turns.ts'
import { decideRegistrationRequest } from '../../posture/devices/registration-requests/decide-registration-request.ts'
import { postureKnown } from '../attempts/decide-posture.ts'
import { refuseAttempt } from '../attempts/refuse-attempt.ts'
import { settleRegistration } from '../attempts/run-posture.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'
import { registerAttemptDevice } from '../registration/register-device.ts'
import { createOsUserBinder } from './os-users.ts'
import { deleteLeasesOfAttempt } from './probe-lease-store.ts'
import { PROOFS_OF_PERSON_MAX, startProof } from './start-proof.ts'

let world: ProofWorld

beforeAll(async () => {
  world = await openProofWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  world.answers.clear()
  world.asked.splice(0)
  await world.database.db.deleteFrom('device').execute()
  await world.database.db.deleteFrom('sign_in_attempt').execute()
})

/** Opens every port as the page does, and has a device answer with them. */
async function openAll(attempt: { id: string; cookie: string }): Promise<OpenedPort[]> {
  const started = await world.start(attempt)
  const opened: OpenedPort[] = []
  for (const port of started.ports) opened.push(await world.open(port, started))
  expect(opened.map(({ status }) => status)).toEqual([200, 200, 200])
  return opened
}

/** A device that nobody has, at the address of the browser. */
async function addUnregistered(): Promise<string> {
  const device = await world.addDevice({ owner_person_id: null, registered_at: null })
  await world.database.db
    .insertInto('device_contact')
    .values({ device_id: device, ip_address: '192.0.2.1', last_seen_at: new Date() })
    .execute()
  return device
}

const refusalOf = async (id: string) => (await world.attempt(id))?.refusalCode

describe('the device of a sign-in is proven', () => {
  it('by the connections that its browser holds; the evidence says which, and the record of the sign-in too', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    let isOfSignIns = false
    world.answers.set(device, () => {
      isOfSignIns = isRunAs('sign-ins')
      return browserRows(opened)
    })
    expect(await world.finish(attempt)).toBe('posture')
    // It waits for locks longer than other requests do.
    expect(isOfSignIns).toBe(true)
    const proven = await world.attempt(attempt.id)
    expect(proven).toMatchObject({
      deviceId: device,
      assurance: 'live',
      evidence: {
        pid: '812',
        os_user: 'ada',
        browser: 'Chromium',
        latency_ms: 7,
        is_port_agreed: true,
      },
    })
    const { events } = await world.database.db
      .selectFrom('auth_log_session')
      .select('events')
      .where('id', '=', proven?.authLogSessionId ?? '0')
      .executeTakeFirstOrThrow()
    const told = events.find(({ event_type: type }) => type === 'device_proof')?.event_description
    expect(told).toContain('process 812, /usr/lib/chromium/chromium, user ada')
  })

  it('whichever of the devices of the person it is; the others are asked, and silent ones wait for nobody', async () => {
    const silent = await world.addDevice()
    const other = await world.addDevice()
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    world.answers.set(
      silent,
      () => new Promise<AnswerRow[]>((resolve) => setTimeout(() => resolve([]), 300)),
    )
    world.answers.set(other, () => [])
    world.answers.set(device, () => browserRows(opened))
    await world.finish(attempt)
    expect((await world.attempt(attempt.id))?.deviceId).toBe(device)
    expect([...world.asked].toSorted()).toEqual([silent, other, device].toSorted())
  })

  it('while a second sign-in of the same browser has ports and a proof of its own', async () => {
    const device = await world.addDevice()
    const [one, two] = [await world.begin(), await world.begin()]
    const ofOne = await openAll(one)
    const ofTwo = await openAll(two)
    expect(new Set([...ofOne, ...ofTwo].map(({ port }) => port)).size).toBe(6)
    world.answers.set(device, (sql) =>
      browserRows(sql.includes(String(ofOne[0]?.port)) ? ofOne : ofTwo),
    )
    expect(await world.finish(two)).toBe('posture')
    expect(await world.finish(one)).toBe('posture')
  })

  it('once: its ports are free afterwards, and its connections end', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    world.answers.set(device, () => browserRows(opened))
    await world.finish(attempt)
    expect(await world.finish(attempt)).toBe('409')
    const leases = await world.database.db.selectFrom('sign_in_probe_lease').selectAll().execute()
    expect(leases).toEqual([])
  })
})

it('ends for its browser within seconds when no process could tell of the end any more', async () => {
  const attempt = await world.begin()
  const opened = await openAll(attempt)
  await world.runJobs()
  await createChangeRunner(
    world.database.db,
    systemClock,
    [],
  )({ actor: SYSTEM_ACTOR }, (change) => deleteLeasesOfAttempt(change, attempt.id))
  await world.runJobs()
  // Long before the time of a proof is over, at which they end in any case.
  const soon = sleep(20_000, 'waiting')
  expect(await Promise.race([Promise.all(opened.map(({ ended }) => ended)), soon])).not.toBe(
    'waiting',
  )
})

describe('devices that are being asked', () => {
  it('are asked once for one sign-in, however often its browser asks at once', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    const release = Promise.withResolvers<void>()
    world.answers.set(device, async () => {
      await release.promise
      return browserRows(opened)
    })
    const first = world.finish(attempt)
    await expect.poll(() => world.asked).toEqual([device])
    const others = await Promise.all(Array.from({ length: 10 }, async () => world.finish(attempt)))
    expect(new Set(others)).toEqual(new Set(['409']))
    const { statusCode, headers } = await world.http.inject({
      method: 'POST',
      url: `/sign-in/attempts/${attempt.id}/proof`,
      headers: { cookie: attempt.cookie, 'sec-fetch-site': 'same-origin' },
    })
    expect([statusCode, headers['retry-after']]).toEqual([429, '3'])
    release.resolve()
    expect(await first).toBe('posture')
    expect(world.asked).toEqual([device])
  })

  it('keep nobody from a new proof when the process that asked them is gone', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    await openAll(attempt)
    await world.database.db
      .updateTable('sign_in_probe_lease')
      .set({ claimed_at: new Date(Date.now() - 60_000) })
      .where('attempt_id', '=', attempt.id)
      .execute()
    const opened = await openAll(attempt)
    world.answers.set(device, () => browserRows(opened))
    expect(await world.finish(attempt)).toBe('posture')
  })
})

describe('somebody else is not taken for it', () => {
  it.each([
    ['a page of another origin', { origin: 'https://trust.evil.example' }],
    ['a page of another site', { origin: '', 'sec-fetch-site': 'cross-site' }],
    ['a browser without the cookie', { cookie: '' }],
  ])('%s that comes to a leased port ends the attempt as relayed', async (_, headers) => {
    await world.addDevice()
    const attempt = await world.begin()
    const started = await world.start(attempt)
    const foreign = await world.open(started.ports[1] ?? 0, started, headers)
    expect(foreign.status).toBe(403)
    expect(await refusalOf(attempt.id)).toBe('relayed')
    const { evidence } = (await world.attempt(attempt.id)) ?? {}
    expect(evidence).toMatchObject({ foreign_arrival: { address: '127.0.0.1' } })
    const [port = 0] = started.ports
    expect((await world.open(port, started)).status).toBe(404)
  })

  it('a foreign arrival ends it also after the browser has come to every port', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    world.answers.set(device, async () => {
      const started = { ports: [], path: '/anything', cookies: '' }
      await world.open(opened[2]?.port ?? 0, started)
      return browserRows(opened)
    })
    expect(await world.finish(attempt)).toBe('409')
    expect(await refusalOf(attempt.id)).toBe('relayed')
  })

  it('a tunnel on the device that holds the connections is refused', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    world.answers.set(device, () => browserRows(opened, { path: '/usr/bin/ssh' }))
    expect(await world.finish(attempt)).toBe('refused')
    expect(await refusalOf(attempt.id)).toBe('device_unknown')
    expect((await world.attempt(attempt.id))?.evidence).toMatchObject({
      other_devices: [{ device_id: device, reason: 'not_a_browser', path: '/usr/bin/ssh' }],
    })
  })

  it('a browser that connects to the same ports of another service is refused', async () => {
    const device = await world.addDevice()
    const attempt = await world.begin()
    const opened = await openAll(attempt)
    const elsewhere = { local_address: '192.0.2.7', remote_address: '203.0.113.66' }
    world.answers.set(device, () => browserRows(opened, elsewhere))
    expect(await world.finish(attempt)).toBe('refused')
  })

  it('another user of the device is refused, until the device is registered anew or open to anyone', async () => {
    const device = await world.addDevice()
    const signInAs = async (uid: string) => {
      const attempt = await world.begin()
      const opened = await openAll(attempt)
      world.answers.set(device, () => browserRows(opened, { uid }))
      await world.finish(attempt)
      return (await refusalOf(attempt.id)) ?? 'none'
    }
    expect(await signInAs('1000')).toBe('none')
    expect(await signInAs('1001')).toBe('other_os_user')
    const change = async (values: object) =>
      world.database.db.updateTable('device').set(values).where('id', '=', device).execute()
    await change({ authentication_mode: 'anyone' })
    expect(await signInAs('1001')).toBe('none')
    await change({ authentication_mode: 'only_registered_owner' })
    expect(await signInAs('1001')).toBe('other_os_user')
    await change({ registered_at: new Date() })
    expect(await signInAs('1001')).toBe('none')
  })

  it('the user is known with whom the device was registered', async () => {
    const device = await addUnregistered()
    const proveAs = async (uid: string) => {
      const attempt = await world.begin()
      const opened = await openAll(attempt)
      world.answers.set(device, () => browserRows(opened, { uid }))
      return { id: attempt.id, stage: await world.finish(attempt) }
    }
    await proveAs('1001')
    const { id, stage } = await proveAs('1000')
    expect(stage).toBe('registration')
    await world.runChange({ actor: SYSTEM_ACTOR }, (change) => registerAttemptDevice(change, id))
    const other = await proveAs('1001')
    expect([other.stage, await refusalOf(other.id)]).toEqual(['refused', 'other_os_user'])
    expect((await proveAs('1000')).stage).toBe('posture')
  })

  describe('as another user of the device than was approved', () => {
    const proveAs = async (device: string, uid: string) => {
      const attempt = await world.begin()
      const opened = await openAll(attempt)
      world.answers.set(device, () => browserRows(opened, { uid }))
      return { id: attempt.id, stage: await world.finish(attempt) }
    }
    const change = async <Result>(work: (open: Change) => Promise<Result>) =>
      createChangeRunner(world.database.db, systemClock, [createOsUserBinder()])(
        { actor: SYSTEM_ACTOR },
        work,
      )
    const register = async (id: string) => change((open) => registerAttemptDevice(open, id))
    const settle = async (id: string) => {
      const attempt = await world.attempt(id)
      if (attempt === undefined) throw new Error('the sign-in is gone')
      const context = { db: world.database.db, runChange: world.runChange, clock: systemClock }
      const { stage, refusalCode } = await settleRegistration(context, attempt)
      return refusalCode ?? stage
    }
    const approve = async (device: string) => {
      const { id } = await world.database.db
        .selectFrom('registration_request')
        .select('id')
        .where('device_id', '=', device)
        .executeTakeFirstOrThrow()
      const decision = { status: 'approved', internalMessage: null } as const
      await change((open) => decideRegistrationRequest(open, id, decision))
    }
    beforeEach(async () => {
      const { db } = world.database
      await updateSignInPolicy(db, { firstRegistration: 'admin_approval' }, new Date())
      await db.updateTable('person').set({ first_device_trusted_at: null }).execute()
    })
    afterEach(() => world.database.db.deleteFrom('sign_in_policy').execute())

    it('nobody goes on who waits beside it', async () => {
      const device = await addUnregistered()
      const asked = await proveAs(device, '1000')
      await register(asked.id)
      const beside = await proveAs(device, '1001')
      await register(beside.id)
      await approve(device)
      expect(await settle(beside.id)).toBe('other_os_user')
      expect(await settle(asked.id)).toBe('posture')
    })

    it('nobody comes after an approval that was given when the sign-in was over', async () => {
      const device = await addUnregistered()
      const asked = await proveAs(device, '1000')
      await register(asked.id)
      await change((open) => refuseAttempt(open, asked.id, 'cancelled'))
      await approve(device)
      const other = await proveAs(device, '1001')
      expect([other.stage, await refusalOf(other.id)]).toEqual(['refused', 'other_os_user'])
      expect((await proveAs(device, '1000')).stage).toBe('posture')
    })

    it('nobody is let in who was proven before the device was for its owner alone', async () => {
      const device = await world.addDevice({ authentication_mode: 'anyone' })
      expect((await proveAs(device, '1000')).stage).toBe('posture')
      const other = await proveAs(device, '1001')
      expect(other.stage).toBe('posture')
      await world.database.db
        .updateTable('device')
        .set({ authentication_mode: 'only_registered_owner' })
        .where('id', '=', device)
        .execute()
      const decided = await change((open) => postureKnown(open, other.id, { isFresh: true }))
      expect(decided.refusalCode).toBe('other_os_user')
    })
  })

  it('whoever stole every cookie and opens the ports from another machine proves nothing', async () => {
    const device = await world.addDevice()
    const victim = await world.begin()
    const stolen = { ...victim }
    const opened = await openAll(stolen)
    // The browser of the victim is there, with connections to something else.
    world.answers.set(device, () => browserRows(opened, { remote_port: '443' }))
    await world.finish(stolen)
    expect(await refusalOf(victim.id)).toBe('device_unknown')
    expect(await world.attempt(victim.id)).toMatchObject({ deviceId: null, assurance: null })
  })

  it('a device that does not answer is unreachable, and one that is not the one is unknown', async () => {
    const device = await world.addDevice()
    const silent = await world.begin()
    await openAll(silent)
    await world.finish(silent)
    expect(await refusalOf(silent.id)).toBe('device_unreachable')
    world.answers.set(device, () => [])
    const other = await world.begin()
    await openAll(other)
    await world.finish(other)
    expect(await refusalOf(other.id)).toBe('device_unknown')
  })

  it('a device is unreachable that does not answer, also when one that nobody has answers from the same address', async () => {
    await world.addDevice()
    const neighbour = await addUnregistered()
    world.answers.set(neighbour, () => [])
    const attempt = await world.begin()
    await openAll(attempt)
    await world.finish(attempt)
    expect(world.asked).toContain(neighbour)
    expect(await refusalOf(attempt.id)).toBe('device_unreachable')
  })
})

describe('the ports', () => {
  it('are needed, all of them: a browser that opens too few proves nothing', async () => {
    await world.addDevice()
    const attempt = await world.begin()
    const started = await world.start(attempt)
    await world.open(started.ports[0] ?? 0, started)
    await world.finish(attempt)
    expect(await refusalOf(attempt.id)).toBe('proof_unavailable')
    expect(world.asked).toEqual([])
  })

  it('say nothing without a lease, and a request counts once', async () => {
    const attempt = await world.begin()
    const started = await world.start(attempt)
    const [port = 0] = started.ports
    expect((await world.open(port, started)).status).toBe(200)
    expect((await world.open(port, started)).status).toBe(409)
    const free = world.allPorts.find((each) => !started.ports.includes(each)) ?? 0
    expect((await world.open(free, started)).status).toBe(404)
    expect(await refusalOf(attempt.id)).toBeNull()
  })

  it('take nothing through a proxy that reads requests', async () => {
    const attempt = await world.begin()
    const started = await world.start(attempt)
    const answer = await world.open(started.ports[0] ?? 0, started, { via: '1.1 proxy' })
    expect(answer.status).toBe(421)
  })

  it('go to one address by halves at most, and come back when nobody comes', async () => {
    const begun = await Promise.all([1, 2, 3].map(() => world.begin('198.51.100.9')))
    const started = []
    for (const attempt of begun) started.push(await world.start(attempt).catch(() => 'refused'))
    expect(started.filter((each) => each === 'refused')).toHaveLength(1)
    await world.start(await world.begin('198.51.100.10'))
    await world.database.db
      .updateTable('sign_in_probe_lease')
      .set({ leased_until: new Date(0) })
      .execute()
    await vi.waitFor(async () => world.start(begun[2] ?? { id: '', cookie: '' }))
  })

  it('are leased to few sign-ins of one person from one address, and to the same person elsewhere', async () => {
    const ports = Array.from({ length: 64 }, (_, at) => 20_000 + at)
    const lease = async (address: string) => {
      const { id } = await world.begin(address)
      return world.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        startProof(change, id, ports),
      )
    }
    for (let proofs = 0; proofs < PROOFS_OF_PERSON_MAX; proofs += 1) await lease('198.51.100.20')
    await expect(lease('198.51.100.20')).rejects.toMatchObject({ code: 'rate_limited' })
    expect((await lease('198.51.100.21')).ports).toHaveLength(3)
  })

  it('are leased to the browser of an attempt alone', async () => {
    const [one, two] = [await world.begin(), await world.begin()]
    await expect(world.start({ id: one.id, cookie: two.cookie })).rejects.toThrow('404')
    expect(await world.finish({ id: one.id, cookie: two.cookie })).toBe('404')
  })
})
