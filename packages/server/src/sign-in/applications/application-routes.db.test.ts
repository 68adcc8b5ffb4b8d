import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { listAuditEntries } from '../../../test/support/write-contract.ts'

interface Application {
  readonly id: string
  readonly client_id: string
  readonly client_secret: string | null
  readonly issuer: string
  readonly [name: string]: unknown
}

let api: ServiceApi
let manager: string
let reader: string

beforeAll(async () => {
  api = await createServiceApi()
  manager = await api.createKey(['Manage Sign-in'])
  reader = await api.createKey(['Read Sign-in'])
})
afterAll(() => api.close())

const REDIRECT = 'https://wiki.example.com/callback'
let made = 0
const name = () => `Wiki ${++made}`

const send = async <Body = Application>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  payload?: object,
  key = manager,
) => api.request<Body>(path, { method, key, ...(payload === undefined ? {} : { payload }) })

const create = async (values: object = {}) =>
  send('POST', '/sign_in_applications', { name: name(), redirect_uris: [REDIRECT], ...values })

const refuse = async (values: object) => {
  const { status, body } = await send<TestRefusal>('POST', '/sign_in_applications', {
    name: name(),
    redirect_uris: [REDIRECT],
    ...values,
  })
  return [status, body.code, body.details?.[0]?.path]
}

describe('an application', () => {
  it('gets a secret that is shown once and kept sealed', async () => {
    const { status, body } = await create()
    expect(status).toBe(200)
    expect(body.client_secret).toMatch(/^hgs_/)
    expect(body.issuer).toMatch(/\/sign-in$/)
    const shown = await send('GET', `/sign_in_applications/${body.id}`, undefined, reader)
    expect(JSON.stringify(shown.body)).not.toContain('hgs_')
    const stored = await api.db
      .selectFrom('sign_in_application')
      .select('client_secret_sealed')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
    expect(stored.client_secret_sealed?.toString('latin1')).not.toContain('hgs_')
    const told = await listAuditEntries(api, { type: 'sign_in_application', id: body.id })
    expect(told).toHaveLength(1)
    expect(JSON.stringify(told)).not.toContain('hgs_')
  })

  it('gets another secret, where it has one', async () => {
    const { body } = await create()
    const path = `/sign_in_applications/${body.id}/rotate_secret`
    const rotated = await send('POST', path)
    expect(rotated.body.client_secret).toMatch(/^hgs_/)
    expect(rotated.body.client_secret).not.toBe(body.client_secret)
    const open = await create({ token_endpoint_auth_method: 'none' })
    expect(open.body.client_secret).toBeNull()
    const refused = await send('POST', `/sign_in_applications/${open.body.id}/rotate_secret`)
    expect(refused.status).toBe(409)
  })

  it.each([
    [{ redirect_uris: [] }, [422, 'invalid_body', 'redirect_uris']],
    [{ redirect_uris: ['http://wiki.example.com/'] }, [422, 'invalid_body', 'redirect_uris.0']],
    [{ redirect_uris: ['javascript:alert(1)'] }, [422, 'invalid_body', 'redirect_uris.0']],
    [{ redirect_uris: [`${REDIRECT}#part`] }, [422, 'invalid_body', 'redirect_uris.0']],
    [{ mode: 'broker' }, [422, 'invalid_body', 'upstream_provider_id']],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, [422, 'invalid_body', 'jwks']],
    [{ kind: 'entra' }, [422, 'invalid_body', 'entra_tenant_id']],
    [{ kind: 'forward_auth', hosts: ['a.example.com'] }, [422, 'invalid_body', 'mode']],
    [{ session_seconds: 1 }, [422, 'invalid_body', 'session_seconds']],
    [{ jwks_uri: 'https://10.0.0.1/jwks' }, [422, 'target_refused', undefined]],
    [{ backchannel_logout_uri: 'http://example.com/' }, [422, 'target_refused', undefined]],
  ])('is refused with %j', async (values, refusal) => {
    expect(await refuse(values)).toEqual(refusal)
  })

  it('has a name that is there once', async () => {
    const { body } = await create()
    expect(await refuse({ name: String(body['name']).toUpperCase() })).toEqual([
      409,
      'conflict',
      undefined,
    ])
  })

  it('is read and written by whoever may', async () => {
    const { body } = await create()
    const path = `/sign_in_applications/${body.id}`
    expect((await send('GET', path, undefined, api.key)).status).toBe(403)
    expect((await send('PATCH', path, { name: name() }, reader)).status).toBe(403)
    expect((await send('GET', '/sign_in_applications', undefined, reader)).status).toBe(200)
    expect((await send('GET', '/sign_in_applications/999999', undefined, reader)).status).toBe(404)
    expect((await send('DELETE', path, undefined, reader)).status).toBe(403)
  })

  it('ends what it was granted when it is switched off, and goes with it when it is removed', async () => {
    const { body } = await create({ backchannel_logout_uri: 'http://127.0.0.1:9/logout' })
    const granted = await grant(body.id)
    await send('PATCH', `/sign_in_applications/${body.id}`, { enabled: false })
    const ended = await api.db
      .selectFrom('sign_in_granted_session')
      .select(['end_reason', 'logout_due_at'])
      .where('id', '=', granted)
      .executeTakeFirstOrThrow()
    expect(ended.end_reason).toBe('application')
    expect(ended.logout_due_at).not.toBeNull()
    expect((await send('DELETE', `/sign_in_applications/${body.id}`)).status).toBe(200)
    expect((await send('GET', `/sign_in_applications/${body.id}`)).status).toBe(403)
    expect((await send('GET', `/sign_in_applications/${body.id}`, undefined, reader)).status).toBe(
      404,
    )
  })
})

async function grant(applicationId: string, deviceId: string | null = null): Promise<string> {
  const personId = await insertPerson(api.db)
  const { id } = await api.db
    .insertInto('sign_in_granted_session')
    .values({
      id: crypto.randomUUID(),
      sid: crypto.randomUUID(),
      application_id: applicationId,
      person_id: personId,
      device_id: deviceId,
      assurance: 'live',
      granted_at: api.clock.now(),
      expires_at: new Date(api.clock.now().getTime() + 3_600_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

it('a granted session is listed, and ended once', async () => {
  const { body } = await create()
  const deviceId = await insertDevice(api.db)
  const id = await grant(body.id, deviceId)
  const list = await send<{ data: { id: string; ended_at: string | null }[] }>(
    'GET',
    `/sign_in_sessions?device_id=${deviceId}&live=true`,
    undefined,
    reader,
  )
  expect(list.body.data.map((session) => session.id)).toEqual([id])
  expect((await send('DELETE', `/sign_in_sessions/${id}`, undefined, reader)).status).toBe(403)
  const ended = await send('DELETE', `/sign_in_sessions/${id}`)
  expect(ended.body).toMatchObject({ id, end_reason: 'admin' })
  expect((await send('DELETE', `/sign_in_sessions/${id}`)).status).toBe(409)
  expect((await send('DELETE', '/sign_in_sessions/nothing')).status).toBe(404)
})

describe('the policy', () => {
  it('refuses whoever cannot prove a device until somebody decides otherwise', async () => {
    const { body } = await send<Record<string, unknown>>(
      'GET',
      '/sign_in_policy',
      undefined,
      reader,
    )
    expect(body).toMatchObject({ fallbacks: [], unreachable_device: 'refuse' })
    const changed = await send<Record<string, unknown>>('PATCH', '/sign_in_policy', {
      fallbacks: ['admin_approval', 'registered_device'],
      trusted_local_proxies: [{ name: 'Netskope', path: '/opt/netskope' }],
      brand_colour: '#1a73e8',
    })
    expect(changed.body).toMatchObject({
      fallbacks: ['admin_approval', 'registered_device'],
      trusted_local_proxies: [{ name: 'Netskope', path: '/opt/netskope' }],
      unreachable_device: 'refuse',
    })
  })

  const svg = (text: string) => ({
    brand_logo: { type: 'image/svg+xml', data: Buffer.from(text).toString('base64') },
  })

  it.each([
    { fallbacks: ['admin_approval', 'admin_approval'] },
    { fallbacks: ['none'] },
    { break_glass_group_id: 99_999 },
    { brand_colour: 'red; background: url(//evil.example.com)' },
    svg('<svg><script>alert(1)</script></svg>'),
    svg('<svg onload="alert(1)"></svg>'),
    svg('<svg><image href="https://evil.example.com/"/></svg>'),
    svg('<svg><rect fill="url(https://evil.example.com/)"/></svg>'),
    svg('<svg><foreignObject></foreignObject></svg>'),
  ])('is refused with %j', async (wrong) => {
    const { status, body } = await send<TestRefusal>('PATCH', '/sign_in_policy', wrong)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
  })

  it('takes a logo that only draws', async () => {
    const logo = svg('<svg viewBox="0 0 1 1"><path d="M0 0h1v1z" fill="url(#a)"/></svg>')
    expect((await send('PATCH', '/sign_in_policy', logo)).status).toBe(200)
  })
})

describe('an upstream provider', () => {
  const VALUES = {
    name: 'IdP',
    issuer: 'http://127.0.0.1:9',
    client_id: 'heliograph',
    client_secret: 'kept to itself',
  }

  it('keeps its secret to the issuer that it was given for, and stays while it is used', async () => {
    const { status, body } = await send('POST', '/sign_in_upstream_providers', VALUES)
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain(VALUES.client_secret)
    const path = `/sign_in_upstream_providers/${body.id}`
    const moved = await send<TestRefusal>('PATCH', path, { issuer: 'http://127.0.0.1:10' })
    expect([moved.status, moved.body.details?.[0]?.path]).toEqual([422, 'client_secret'])
    expect((await send('PATCH', path, { name: 'Other' })).status).toBe(200)
    const used = await create({ mode: 'broker', upstream_provider_id: Number(body.id) })
    expect(used.status).toBe(200)
    expect((await send('DELETE', path)).status).toBe(409)
    const check = await send<{ problems: { field: string }[] }>('POST', `${path}/check`)
    expect(check.body.problems[0]?.field).toBe('issuer')
    await send('DELETE', `/sign_in_applications/${used.body.id}`)
    expect((await send('DELETE', path)).status).toBe(200)
  })

  it('is refused where it may not be asked', async () => {
    const refused = await send<TestRefusal>('POST', '/sign_in_upstream_providers', {
      ...VALUES,
      issuer: 'http://idp.example.com',
    })
    expect([refused.status, refused.body.code]).toEqual([422, 'target_refused'])
  })
})
