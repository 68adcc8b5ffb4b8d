import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { listAuditEntries } from '../../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { beginAttempt } from '../../attempts/begin-attempt.ts'
import { refuseAttempt } from '../../attempts/refuse-attempt.ts'

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

const send = async <Body>(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  payload?: object,
  key = manager,
) => api.request<Body>(path, { method, key, ...(payload === undefined ? {} : { payload }) })

interface Issued {
  readonly id: string
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string
}

const create = async (values: object = {}) =>
  (
    await send<Issued>('POST', '/sign_in_applications', {
      name: `Wiki ${++made}`,
      redirect_uris: [REDIRECT],
      ...values,
    })
  ).body

interface Finding {
  readonly field: string
  readonly fits: boolean
  readonly given: string | null
  readonly expected: string | null
  readonly remedy: string | null
}

const check = async (id: string, body: object) =>
  (await send<{ findings: Finding[] }>('POST', `/sign_in_applications/${id}/check_request`, body))
    .body.findings

describe('a request that is checked', () => {
  it('is compared with the application, and changes nothing', async () => {
    const { id, issuer, client_id: clientId } = await create()
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: `${REDIRECT}/`,
      response_type: 'code',
      scope: 'openid',
      login_hint: 'ada@example.com',
    })
    const before = await listAuditEntries(api, { type: 'sign_in_application', id })
    const findings = await check(id, {
      authorization_url: `${issuer}/authorize?${query.toString()}`,
    })
    expect(findings.filter(({ fits }) => !fits)).toMatchObject([
      { field: 'redirect_uri', given: `${REDIRECT}/`, expected: REDIRECT },
    ])
    expect(await listAuditEntries(api, { type: 'sign_in_application', id })).toEqual(before)
  })

  it('says whether a secret is the right one, without saying it', async () => {
    const { id, client_secret: secret } = await create()
    expect(await check(id, { client_secret: secret })).toMatchObject([{ fits: true, given: null }])
    const wrong = await check(id, { client_secret: `${secret} ` })
    expect(wrong).toMatchObject([{ field: 'client_secret', fits: false, given: null }])
    expect(JSON.stringify(wrong)).not.toContain('hgs_')
    const open = await create({ token_endpoint_auth_method: 'none' })
    expect(await check(open.id, { client_secret: secret })).toMatchObject([{ fits: false }])
  })

  it('fits no application that is switched off', async () => {
    const { id } = await create({ enabled: false })
    expect(await check(id, {})).toMatchObject([{ field: 'enabled', fits: false }])
  })

  it('is one of OpenID Connect, and checked by whoever may manage', async () => {
    const entra = await create({
      kind: 'entra',
      redirect_uris: [],
      entra_tenant_id: crypto.randomUUID(),
      entra_app_id: crypto.randomUUID(),
    })
    const path = (id: string) => `/sign_in_applications/${id}/check_request`
    expect((await send('POST', path(entra.id), {})).status).toBe(409)
    expect((await send('POST', path(entra.id), {}, reader)).status).toBe(403)
    expect((await send('POST', path('999999'), {})).status).toBe(404)
  })
})

it('the last sign-ins of an application say why they were refused', async () => {
  const { id } = await create()
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const { attempt } = await beginAttempt(change, {
      applicationId: id,
      interaction: { kind: 'oidc', uid: crypto.randomUUID() },
      loginHint: null,
      language: 'en',
      ipAddress: '127.0.0.1',
      userAgent: null,
    })
    await refuseAttempt(change, attempt.id, 'person_missing')
  })
  const { body } = await send<{ data: object[] }>(
    'GET',
    `/sign_in_applications/${id}/recent_requests`,
    undefined,
    reader,
  )
  expect(body.data).toMatchObject([
    {
      stage: 'refused',
      person_email: null,
      refusal: { code: 'person_missing', remedy: expect.stringContaining('login_hint') as string },
    },
  ])
})
