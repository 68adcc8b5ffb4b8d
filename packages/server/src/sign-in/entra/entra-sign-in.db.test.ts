import type { JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson, insertPersonGroup } from '../../../test/support/factories.ts'
import { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import {
  inOrder,
  insertApplication,
  proveTestDevice,
} from '../../../test/support/sign-in-fixtures.ts'
import {
  ENTRA_APP,
  startStandInEntra,
  TENANT,
  type HintChanges,
  type StandInEntra,
} from '../../../test/support/stand-in-entra.ts'
import { newUuid } from '../../platform/ids.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createGuardedClient } from '../../platform/net/guarded-client.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import {
  createRefusalRecorder,
  type RefusalRecorder,
} from '../applications/requests/refusal-recorder.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { postureKnown } from '../attempts/decide-posture.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { refuseAttempt } from '../attempts/refuse-attempt.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'
import { deleteEntraAccount } from '../entra-accounts/entra-account-store.ts'
import { readBrand } from '../pages/brand-read.ts'
import { createPageAssets } from '../pages/kit/page-assets.ts'
import { createSignInKeys } from '../provider/sign-in-keys.ts'
import { answerEntra, type EntraDependencies } from './entra-sign-in.ts'
import { ENTRA_CLOUDS } from './entra-clouds.ts'
import { mountEntra } from './entra-routes.ts'
import { createEntraHintVerifier } from './verify-entra-hint.ts'

const ISSUER = `${BASE_URL}/sign-in/entra`
const CLIENT = 'the id that Entra was given'

let api: TestApi
let entra: StandInEntra
let dependencies: EntraDependencies
let keys: JSONWebKeySet
let person: { readonly id: string; readonly email: string }
let refusals: RefusalRecorder
let count = 0
const targets = parseAllowedTargets('127.0.0.1')
if (!targets.ok) throw new Error(targets.reason)
const client = createGuardedClient({ policy: targets.policy, userAgent: 'test' })

beforeAll(async () => {
  entra = await startStandInEntra()
  api = await createTestApi(() => [])
  api.clock.set(new Date())
  const { db, runChange, clock, sealer } = api
  const { authority, redirectUri } = entra
  refusals = createRefusalRecorder({ db, clock, log: SILENT_LOGGER })
  dependencies = {
    refusals,
    ...{ db, runChange, clock, log: SILENT_LOGGER, baseUrl: BASE_URL },
    clouds: { ...ENTRA_CLOUDS, global: { authority, redirectUri } },
    verifyHint: createEntraHintVerifier(client, clock),
    keys: createSignInKeys({ db, runChange, clock, sealer }),
  }
  const site = {
    baseUrl: BASE_URL,
    assets: createPageAssets(),
    readBrand: async () => readBrand(db),
  }
  mountEntra(api.app, site, dependencies)
  await insertApplication(db, {
    kind: 'entra',
    client_id: CLIENT,
    entra_tenant_id: TENANT,
    entra_app_id: ENTRA_APP,
    entra_cloud: 'global',
  })
  keys = (await api.app.inject('/sign-in/entra/jwks')).json()
})
afterAll(async () => {
  await refusals.settle()
  await client.close()
  await entra.close()
  await api.close()
})

beforeEach(async () => {
  api.clock.set(new Date())
  const email = `ada.${++count}@example.com`
  person = { id: await insertPerson(api.db, { email }), email }
})

/** Which fields admins are told of, with what stood there, since the last time. */
async function takeRefusals() {
  await refusals.settle()
  const rows = await api.db
    .deleteFrom('sign_in_refused_request')
    .returning(['field', 'given'])
    .execute()
  return rows.map(({ field, given }) => [field, given])
}

const ask = async (changes?: HintChanges) => entra.request(CLIENT, person.email, changes)

const send = async (form: Readonly<Record<string, string>>) =>
  new SignInBrowser(api.app, BASE_URL).post('/sign-in/entra/authorize', form, 'cross-site')

/** Sends a request and answers the attempt that it began. */
async function begin(form: Readonly<Record<string, string>>): Promise<string> {
  const { status, location } = await send(form)
  expect([status, location]).toEqual([303, expect.stringContaining('/sign-in/attempts/')])
  return location?.split('/').at(-1) ?? ''
}

/** Proves a device of the person that is in order. */
async function letIn(attemptId: string): Promise<void> {
  const deviceId = await insertDevice(api.db, { ...inOrder(), owner_person_id: person.id })
  await proveTestDevice(api.runChange, attemptId, deviceId)
  await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    postureKnown(change, attemptId, { isFresh: true }),
  )
}

async function answer(attemptId: string) {
  const attempt = await findAttempt(api.db, attemptId)
  if (attempt === undefined) throw new Error('there is no attempt')
  return answerEntra(dependencies, { attempt })
}

describe('the metadata', () => {
  it('says what Entra reads, and every key has its certificate', async () => {
    const { body, headers } = await new SignInBrowser(api.app, BASE_URL).get(
      '/sign-in/entra/.well-known/openid-configuration',
    )
    expect(headers['content-length']).toBe(String(body.length))
    expect(JSON.parse(body)).toMatchObject({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/jwks`,
      response_types_supported: ['id_token'],
      id_token_signing_alg_values_supported: ['RS256'],
    })
    expect(keys.keys.length).toBeGreaterThan(0)
    for (const key of keys.keys) {
      expect(key.x5c).toHaveLength(1)
      expect(key).not.toHaveProperty('d')
    }
  })
})

describe('a request of Entra', () => {
  it('comes back as an answer that Entra takes, once', async () => {
    const request = await ask()
    const id = await begin(request)
    await letIn(id)
    const { action, fields } = await answer(id)
    expect(action).toBe(entra.redirectUri)
    const claims = await entra.judge(fields, { request, issuer: ISSUER, keys })
    expect(claims['amr']).toEqual(['pop'])
    await expect(answer(id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('comes back as a refusal where the session has ended before Entra was told', async () => {
    const begun = async () => {
      const request = await ask()
      const id = await begin(request)
      await letIn(id)
      return { id, refusal: { error: 'access_denied', state: request['state'] } }
    }
    const ended = await begun()
    await api.db
      .updateTable('sign_in_granted_session')
      .set({ ended_at: api.clock.now(), end_reason: 'device_blocked' })
      .where('attempt_id', '=', ended.id)
      .execute()
    expect((await answer(ended.id)).fields).toEqual(ended.refusal)
    const expired = await begun()
    api.clock.advance(2 * DAY_MS)
    expect((await answer(expired.id)).fields).toEqual(expired.refusal)
  })

  it('breaks no glass: Entra would be told nothing, and the person has the other ways', async () => {
    const group = await insertPersonGroup(api.db, {}, [person.id])
    const policy = { breakGlassGroupId: group, fallbacks: ['admin_approval' as const] }
    await updateSignInPolicy(api.db, policy, api.clock.now())
    const id = await begin(await ask())
    const attempt = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      deviceNotProven(change, id, { reason: 'unreachable', evidence: {} }),
    )
    expect([attempt.stage, attempt.assurance]).toEqual(['fallback', null])
    await updateSignInPolicy(api.db, { breakGlassGroupId: null, fallbacks: [] }, api.clock.now())
  })

  it('comes back as a refusal where the person is not let in', async () => {
    const request = await ask()
    const id = await begin(request)
    await expect(answer(id)).rejects.toMatchObject({ code: 'conflict' })
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      refuseAttempt(change, id, 'device_unknown'),
    )
    expect((await answer(id)).fields).toEqual({ error: 'access_denied', state: request['state'] })
  })

  const nobody = () => `${newUuid()}@example.com`
  const stageOf = async (id: string) => {
    const attempt = await findAttempt(api.db, id)
    return [attempt?.stage, attempt?.refusalCode, attempt?.personId]
  }

  it('is of the same person when the name of the account has changed', async () => {
    const oid = newUuid()
    await begin(await ask({ claims: { oid } }))
    const renamed = await entra.request(CLIENT, nobody(), { claims: { oid } })
    expect(await stageOf(await begin(renamed))).toEqual(['device', null, person.id])
    // Also when the person is known by the new name as well, and by whatever case.
    const again = await ask({ claims: { oid: oid.toUpperCase() } })
    expect(await stageOf(await begin(again))).toEqual(['device', null, person.id])
  })

  it('is refused where the name belongs to another account now, until an admin forgets the former', async () => {
    await begin(await ask({ claims: { oid: newUuid() } }))
    const reused = await ask({ claims: { oid: newUuid() } })
    expect(await stageOf(await begin(reused))).toEqual(['refused', 'account_changed', null])
    const { id } = await api.db
      .selectFrom('entra_account')
      .select('id')
      .where('person_id', '=', person.id)
      .executeTakeFirstOrThrow()
    await api.runChange({ actor: SYSTEM_ACTOR }, (change) => deleteEntraAccount(change.tx, id))
    expect(await stageOf(await begin(reused))).toEqual(['device', null, person.id])
  })

  it('is refused where the account is that of somebody else than the name says', async () => {
    const oid = newUuid()
    await begin(await ask({ claims: { oid } }))
    const email = nobody()
    await insertPerson(api.db, { email })
    const request = await entra.request(CLIENT, email, { claims: { oid } })
    expect(await stageOf(await begin(request))).toEqual(['refused', 'account_changed', null])
  })

  it('makes one account out of first sign-ins at once', async () => {
    const requests = await Promise.all([1, 2, 3, 4].map(() => ask({ claims: { oid: newUuid() } })))
    const stages = await Promise.all(requests.map(async (each) => stageOf(await begin(each))))
    expect(stages.filter(([stage]) => stage === 'device')).toHaveLength(1)
    expect(stages.filter(([, code]) => code === 'account_changed')).toHaveLength(3)
  })

  it('creates whom Entra has proven', async () => {
    const id = await begin(await entra.request(CLIENT, `new.${person.email}`))
    expect((await findAttempt(api.db, id))?.stage).toBe('device')
  })

  it.each([
    ['a scope without openid', { scope: 'profile' }, ['entra_request', 'scope']],
    ['another response type', { response_type: 'code' }, ['entra_request', 'response_type']],
    ['another response mode', { response_mode: 'query' }, ['entra_request', 'response_mode']],
    ['an unknown client', { client_id: 'somebody' }, ['client_id', 'somebody']],
    [
      'a foreign address to answer to',
      { redirect_uri: 'https://evil.example.com/' },
      ['cloud', 'https://evil.example.com/'],
    ],
    [
      'an address of another cloud',
      { redirect_uri: ENTRA_CLOUDS.china.redirectUri },
      ['cloud', ENTRA_CLOUDS.china.redirectUri],
    ],
    ['no nonce', { nonce: '' }, ['entra_request', 'nonce']],
    ['no hint', { id_token_hint: '' }, ['entra_request', 'id_token_hint']],
    ['a hint that is none', { id_token_hint: 'a.b.c' }, ['hint_signature', null]],
    ['claims that are none', { claims: '{' }, ['entra_request', 'claims']],
    [
      'another acr',
      {
        claims:
          '{"id_token":{"acr":{"essential":true,"values":["other"]},"amr":{"essential":true,"values":["pop"]}}}',
      },
      ['entra_request', 'claims'],
    ],
    [
      'an acr that is not essential',
      {
        claims:
          '{"id_token":{"acr":{"values":["possessionorinherence"]},"amr":{"essential":true,"values":["pop"]}}}',
      },
      ['entra_request', 'claims'],
    ],
  ] as const)('is refused with %s, and admins are told', async (_what, wrong, told) => {
    await takeRefusals()
    const { status, location } = await send({ ...(await ask()), ...wrong })
    expect([status, location]).toEqual([400, undefined])
    expect(await takeRefusals()).toEqual([told])
  })

  it('is not kept where it names no application', async () => {
    await takeRefusals()
    await send({})
    expect(await takeRefusals()).toEqual([])
  })

  const now = Math.floor(Date.now() / 1_000)
  it.each<readonly [string, HintChanges, readonly [string, string | null]]>([
    ['a foreign key', { isForeignKey: true }, ['hint_signature', null]],
    ['a key that Entra does not have', { header: { kid: 'other' } }, ['hint_signature', null]],
    [
      'another issuer',
      { claims: { iss: 'https://login.microsoftonline.com/x/v2.0' } },
      ['hint_tenant', 'https://login.microsoftonline.com/x/v2.0'],
    ],
    [
      'another audience',
      { claims: { aud: 'another application' } },
      ['hint_audience', 'another application'],
    ],
    [
      'another tenant',
      { claims: { tid: 'd1a2f0de-3a4b-4c5d-8e6f-0123456789ab' } },
      ['hint_tenant', 'd1a2f0de-3a4b-4c5d-8e6f-0123456789ab'],
    ],
    ['no account', { claims: { oid: undefined } }, ['hint_claim', 'oid']],
    [
      'no name',
      { claims: { preferred_username: undefined } },
      ['hint_claim', 'preferred_username'],
    ],
    [
      'an age of hours',
      { claims: { iat: now - 7_200 } },
      ['hint_time', new Date((now - 7_200) * 1_000).toISOString()],
    ],
    [
      'a time to come',
      { claims: { iat: now + 3_600 } },
      ['hint_time', new Date((now + 3_600) * 1_000).toISOString()],
    ],
  ])('is refused with a hint of %s, and admins are told', async (_what, changes, told) => {
    await takeRefusals()
    const { status, location } = await send(await ask(changes))
    expect([status, location]).toEqual([400, undefined])
    expect(await takeRefusals()).toEqual([told])
  })

  it('is refused with a hint that was tampered with', async () => {
    const request = await ask()
    const [header = '', payload = '', signature = ''] = (request['id_token_hint'] ?? '').split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    const forged = Buffer.from(
      JSON.stringify({ ...claims, preferred_username: 'ceo@example.com' }),
    ).toString('base64url')
    const { status } = await send({ ...request, id_token_hint: `${header}.${forged}.${signature}` })
    expect(status).toBe(400)
  })
})
