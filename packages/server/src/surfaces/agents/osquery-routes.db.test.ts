import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  Agents,
  describeSystem,
  enrollBody,
  expectFailure,
  expectNodeInvalid,
  SCHEDULE,
} from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import { createListener } from '../../platform/db/listener.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
})
afterEach(() => agents.close())

describe('the failure contract', () => {
  const paths = ['config', 'distributed/read', 'distributed/write', 'log']

  test.each(paths)(
    'an unknown node key on %s is told so with error and node_invalid',
    async (path) => {
      expectNodeInvalid(await agents.post(path, { node_key: 'unknown' }))
      expectNodeInvalid(await agents.post(path, {}))
      expectNodeInvalid(await agents.post(path, {}, { authorization: 'NodeKey unknown' }))
    },
  )

  test.each(paths)('a database that is down never ends a node key on %s', async (path) => {
    agents.fault = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
    expectFailure(await agents.post(path, { node_key: 'anything' }), 503)
  })

  test.each(['enroll', ...paths])(
    'a bug of ours on %s is an error without details',
    async (path) => {
      const nodeKey = await agents.enroll()
      await agents.posture.insertCheck()
      agents.fault = new Error('secret detail')
      const body = {
        ...enrollBody(),
        node_key: path === 'config' ? 'another' : nodeKey,
        queries: { 'check:1:1': [] },
        log_type: 'result',
        data: [{ name: 'report:usb_devices', snapshot: [] }],
      }
      agents.posture.clock.advance(2 * HOUR_MS)
      const answer = await agents.post(path, body)
      expectFailure(answer, 500)
      expect(answer.body).not.toContain('secret detail')
    },
  )

  test.each(['enroll', ...paths])(
    'a body on %s that is not JSON, or no object, is refused',
    async (path) => {
      expectFailure(await agents.post(path, '{"node_key": '), 400)
      expectFailure(await agents.post(path, '[]'), 400)
      expectFailure(await agents.post(path, ''), 400)
    },
  )

  test.each([
    ['enroll', 64 * 1024],
    ['distributed/read', 64 * 1024],
  ])('a body on %s larger than its own limit is refused', async (path, bytesMax) => {
    const nodeKey = await agents.enroll()
    const rest = JSON.stringify({ ...enrollBody(), node_key: nodeKey, pad: '' }).length
    const body = (pad: number) =>
      JSON.stringify({ ...enrollBody(), node_key: nodeKey, pad: 'x'.repeat(pad) })
    expect((await agents.post(path, body(bytesMax - rest))).statusCode).toBe(200)
    expectFailure(await agents.post(path, body(bytesMax - rest + 1)), 413)
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)(
    '%s on an agent path is refused',
    async (method) => {
      const answer = await agents.app.inject({ method, url: '/osquery/distributed/read' })
      expectFailure(answer, 405)
      expect(answer.headers['allow']).toBe('POST')
    },
  )

  test.each(['flags', 'certificate.pem'])(
    'another method than GET on %s is refused',
    async (path) => {
      const answer = await agents.app.inject({ method: 'DELETE', url: `/osquery/${path}` })
      expectFailure(answer, 405)
      expect(answer.headers['allow']).toBe('GET, HEAD')
    },
  )

  test('an unknown path below /osquery is refused', async () => {
    expectFailure(await agents.post('carve/begin', {}), 404)
  })

  test('any content type is read, also none', async () => {
    const nodeKey = await agents.enroll()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await agents.post(
        'distributed/read',
        { node_key: nodeKey },
        { 'content-type': type },
      )
      expect(answer.statusCode).toBe(200)
    }
  })
})

describe('authentication', () => {
  test('the header alone is enough, the body alone is enough, and both must agree', async () => {
    const nodeKey = await agents.enroll()
    const header = { authorization: `NodeKey ${nodeKey}` }
    expect((await agents.post('config', {}, header)).statusCode).toBe(200)
    expect((await agents.post('config', { node_key: nodeKey }, header)).statusCode).toBe(200)
    expect((await agents.post('config', { node_key: nodeKey })).statusCode).toBe(200)
    expectFailure(await agents.post('config', { node_key: 'another' }, header), 401)
  })

  test('a header with another scheme is ignored', async () => {
    const nodeKey = await agents.enroll()
    const answer = await agents.post('config', { node_key: nodeKey }, { authorization: 'Bearer x' })
    expect(answer.statusCode).toBe(200)
  })

  test('a revoked node is told so at its next request and can enroll again', async () => {
    const nodeKey = await agents.enroll()
    await agents.read(nodeKey)
    const listener = createListener(database.connection, {
      log: pino({ level: 'silent' }),
      network: new DatabaseNetwork(),
    })
    listener.start()
    const { app: other } = agents.build({}, { listener })
    await listener.whenListening()
    await agents.read(nodeKey, other)
    await agents.posture.change((change) => revokeDeviceNode(change, '1'))
    await expect
      .poll(
        async () =>
          (await agents.post('distributed/read', { node_key: nodeKey }, {}, other)).statusCode,
      )
      .toBe(401)
    expectNodeInvalid(await agents.post('distributed/read', { node_key: nodeKey }, {}, other))
    expect((await agents.read(await agents.enroll({}, other), other)).queries).toEqual({})
    await listener.stop()
  })

  test('a device whose agent is disabled cannot enroll again', async () => {
    await agents.enroll()
    await agents.posture.change((change) => revokeDeviceNode(change, '1', { disableAgent: true }))
    expectFailure(await agents.post('enroll', enrollBody()), 403)
  })

  test('only the hash of a node key is stored', async () => {
    const nodeKey = await agents.enroll()
    const dump = await sql<{ text: string }>`select d::text as text from device d`.execute(db)
    expect(dump.rows[0]?.text).not.toContain(nodeKey)
    expect(Buffer.from(nodeKey, 'base64url').length).toBeGreaterThanOrEqual(24)
  })
})

describe('enrollment', () => {
  const readDevices = () => db.selectFrom('device').selectAll().orderBy('id').execute()

  test('creates the device from what it says of itself', async () => {
    await agents.posture.insertCheck()
    await agents.enroll()
    expect(await readDevices()).toMatchObject([
      {
        host_identifier: 'host-1',
        name: 'Mac of A',
        platform: 'darwin',
        operating_system: 'macOS 15.1',
        hardware_model: 'MacBookPro18,1',
        serial: 'SERIAL-1',
        hardware_uuid: 'UUID-1',
        osquery_version: '5.23.0',
        auth_state: 'Blocked',
        evaluated_at: null,
        enrolled_at: agents.posture.clock.now(),
      },
    ])
    const results = await db.selectFrom('check_result').select('status').execute()
    expect(results).toEqual([{ status: 'pending' }])
    const audit = await db.selectFrom('audit_entry').select('action').execute()
    expect(audit.map((entry) => entry.action)).toContain('device.enrolled')
  })

  test('the same machine again keeps its record and its name, and its old key ends', async () => {
    const old = await agents.enroll()
    await agents.use(old)
    agents.posture.clock.advance(3 * DAY_MS)
    await db.updateTable('device').set({ name: 'Renamed', note: 'kept' }).execute()
    const fresh = await agents.enroll({ host_details: describeSystem('uuid-1', 'SERIAL-1') })
    expect(await readDevices()).toMatchObject([{ id: '1', name: 'Renamed', note: 'kept' }])
    expectNodeInvalid(await agents.post('distributed/read', { node_key: old }))
    expect((await agents.read(fresh)).queries).toEqual({})
  })

  test.each([
    ['UUID', describeSystem('UUID-2', 'SERIAL-1')],
    ['serial', describeSystem('UUID-1', 'SERIAL-2')],
  ])(
    'another machine under the same identifier (other %s) is refused, audited, and harmless',
    async (_what, details) => {
      const nodeKey = await agents.enroll()
      const answer = await agents.post('enroll', enrollBody({ host_details: details }))
      expectFailure(answer, 409)
      expect(answer.json<{ error: string }>().error).toContain('host_identifier')
      expect((await agents.read(nodeKey)).queries).toEqual({})
      const audit = await db
        .selectFrom('audit_entry')
        .selectAll()
        .where('action', '=', 'device.enrollment_refused')
        .orderBy('sequence')
        .execute()
      expect(audit.at(-1)).toMatchObject({ target_id: (await readDevices())[0]?.id })
    },
  )

  test('placeholders of makers do not make two machines one or one machine two', async () => {
    await agents.enroll({ host_details: describeSystem('UUID-1', 'To be filled by O.E.M.') })
    await agents.enroll({ host_details: describeSystem('UUID-1', 'SERIAL-1') })
    expect(await readDevices()).toMatchObject([{ serial: 'SERIAL-1' }])
  })

  test.each([
    ['unknown', { enroll_secret: 'wrong' }, {}, 401],
    ['missing', { enroll_secret: '' }, {}, 400],
    ['revoked', {}, { revoked_at: new Date('2026-01-01') }, 401],
    ['expired', {}, { expires_at: new Date('2026-01-01') }, 401],
  ])('a secret that is %s enrolls nobody', async (_name, body, secret, status) => {
    await db
      .updateTable('enrollment_secret')
      .set({ name: 'changed', ...secret })
      .execute()
    expectFailure(await agents.post('enroll', enrollBody(body)), status)
    expect(await readDevices()).toEqual([])
  })

  test.each([
    ['2', 'windows'],
    ['9', 'linux'],
    ['21', 'darwin'],
    [9, 'linux'],
  ])('platform_type %s is %s', async (platformType, platform) => {
    await agents.enroll({ platform_type: platformType })
    expect(await readDevices()).toMatchObject([{ platform }])
  })

  test('a platform without checks is refused', async () => {
    const os_version = { name: 'FreeBSD', platform: 'freebsd', platform_like: 'bsd' }
    const body = enrollBody({ platform_type: '37', host_details: { os_version } })
    const answer = await agents.post('enroll', body)
    expectFailure(answer, 400)
    expect(answer.json<{ error: string }>().error).toMatch(/macOS, Windows or Linux.*FreeBSD/)
    expect(await readDevices()).toEqual([])
  })

  test('missing host details are no obstacle', async () => {
    await agents.enroll({ host_details: undefined })
    expect(await readDevices()).toMatchObject([
      { name: 'host-1', serial: null, hardware_uuid: null },
    ])
  })

  test('a secret that is bound to a person registers the device to that person', async () => {
    const at = agents.posture.clock.now()
    const person = await db
      .insertInto('person')
      .values({ name: 'A', email: 'a@example.com', created_at: at, updated_at: at })
      .returning('id')
      .executeTakeFirstOrThrow()
    await db.updateTable('enrollment_secret').set({ person_id: person.id }).execute()
    await agents.enroll()
    expect(await readDevices()).toMatchObject([{ owner_person_id: person.id, registered_at: at }])
    expect(agents.posture.announced).toMatchObject([
      {
        device: { owner: { personId: person.id, email: 'a@example.com' } },
        initiatingEntity: 'system',
      },
    ])
  })

  test('an address whose enrollments are refused too often waits with those that fail, and the right secret enrolls', async () => {
    const { app: strict } = agents.build({ failuresPerAddressPerMinute: 3 })
    const wrong = () => agents.post('enroll', enrollBody({ enroll_secret: 'wrong' }), {}, strict)
    for (let index = 0; index < 3; index += 1) expectFailure(await wrong(), 401)
    expectFailure(await wrong(), 429)
    await agents.enroll({}, strict)
    agents.posture.clock.advance(61 * SECOND_MS)
    expectFailure(await wrong(), 401)
  })

  test('a wrong secret costs one look-up', async () => {
    agents.queryCount = 0
    expectFailure(await agents.post('enroll', enrollBody({ enroll_secret: 'wrong' })), 401)
    expect(agents.queryCount).toBe(1)
  })

  test('an address that enrolls one host too often has to wait', async () => {
    const { app: strict } = agents.build({ enrollmentsPerHostPerMinute: 2 })
    await agents.enroll({}, strict)
    await agents.enroll({}, strict)
    expectFailure(await agents.post('enroll', enrollBody(), {}, strict), 429)
    await agents.enroll({ host_identifier: 'host-2', host_details: {} }, strict)
    expectFailure(await agents.post('enroll', enrollBody(), {}, strict, '192.0.2.1'), 403)
  })

  test('two enrollments of one machine at once leave one device and one live key', async () => {
    const keys = await Promise.all([agents.enroll(), agents.enroll(), agents.enroll()])
    expect(await readDevices()).toHaveLength(1)
    const statuses = await Promise.all(
      keys.map(async (key) => (await agents.post('config', { node_key: key })).statusCode),
    )
    expect(statuses.toSorted()).toEqual([200, 401, 401])
  })

  test('a use of the secret is counted at once, and contacts are written in batches', async () => {
    await agents.enroll()
    await agents.contacts.stop()
    const secret = await db.selectFrom('enrollment_secret').selectAll().executeTakeFirstOrThrow()
    expect(secret).toMatchObject({ use_count: '1', last_used_at: agents.posture.clock.now() })
    const contact = await db.selectFrom('device_contact').selectAll().executeTakeFirstOrThrow()
    expect(contact).toMatchObject({
      last_seen_at: agents.posture.clock.now(),
      ip_address: '127.0.0.1',
    })
  })
})

describe('the last contact', () => {
  test('gives way when it lies ahead, since the clock of the database was set back', async () => {
    await agents.enroll()
    agents.posture.clock.set(new Date(Date.now() + 24 * HOUR_MS))
    const nodeKey = await agents.enroll()
    await agents.contacts.flush()
    agents.posture.clock.set(new Date())
    await agents.post('config', { node_key: nodeKey })
    await agents.contacts.stop()
    const contact = await db.selectFrom('device_contact').selectAll().executeTakeFirstOrThrow()
    expect(contact.last_seen_at).toEqual(agents.posture.clock.now())
  })
})

describe('configuration and files', () => {
  test('the configuration holds options and schedule, and its text is stable', async () => {
    const nodeKey = await agents.enroll()
    const first = await agents.post('config', { node_key: nodeKey })
    expect(first.json()).toMatchObject({
      options: { distributed_interval: 5, config_refresh: 300, logger_tls_max_lines: 64 },
      schedule: SCHEDULE,
    })
    expect((await agents.post('config', { node_key: nodeKey })).body).toBe(first.body)
  })

  test('the flag file names this service and its paths', async () => {
    const { body } = await agents.app.inject({ url: '/osquery/flags' })
    expect(body.split('\n')).toEqual(
      expect.arrayContaining([
        '--tls_hostname=trust.example.com',
        '--disable_distributed=false',
        '--distributed_tls_write_endpoint=/osquery/distributed/write',
        '--enroll_tls_endpoint=/osquery/enroll',
      ]),
    )
  })

  test.each([
    ['', '/etc/osquery/enroll_secret'],
    ['?platform=linux', '/etc/osquery/enroll_secret'],
    ['?platform=darwin', '/private/var/osquery/enroll_secret'],
    ['?platform=windows', String.raw`C:\Program Files\osquery\enroll_secret`],
  ])('the flag file %s names the places of its platform', async (query, path) => {
    const { body } = await agents.app.inject({ url: `/osquery/flags${query}` })
    expect(body.split('\n')).toContain(`--enroll_secret_path=${path}`)
  })

  test('there are no flags for other platforms', async () => {
    const answer = await agents.app.inject({ url: '/osquery/flags?platform=freebsd' })
    expectFailure(answer, 400)
    expect(answer.json<{ error: string }>().error).toContain('darwin, windows, linux')
  })

  test('the certificate is served, or its absence is explained', async () => {
    expect((await agents.app.inject({ url: '/osquery/certificate.pem' })).body).toBe('PEM')
    const { app: plain } = agents.build({}, { certificatePem: () => undefined })
    expectFailure(await plain.inject({ url: '/osquery/certificate.pem' }), 404)
  })
})
