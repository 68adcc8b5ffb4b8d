import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { insertPerson } from '../../../test/support/factories.ts'
import { startIdentityProvider } from '../../../test/support/identity-provider.ts'
import { SignInBrowser } from '../../../test/support/sign-in-browser.ts'
import { updateSignInPolicy } from '../policy/policy-store.ts'

const REDIRECT = 'https://wiki.example.com/callback'
const PAGE = /\/sign-in\/attempts\/([0-9a-f-]{36})$/

let api: ServiceApi
let manager: string
let person: { readonly id: string; readonly email: string }
let count = 0

interface Made {
  readonly id: string
  readonly client_id: string
}

beforeAll(async () => {
  api = await createServiceApi()
  manager = await api.createKey(['Manage Sign-in'])
})
afterAll(async () => api.close())
beforeEach(async () => {
  const email = `ada.${++count}@example.com`
  person = { id: await insertPerson(api.db, { email }), email }
})

const browse = () => new SignInBrowser(api.app, BASE_URL)

async function make(upstreamProviderId: number): Promise<Made> {
  const { body } = await api.request<Made>('/sign_in_applications', {
    method: 'POST',
    key: manager,
    payload: {
      ...{ name: `Wiki ${count}`, kind: 'oidc', mode: 'broker', redirect_uris: [REDIRECT] },
      upstream_provider_id: upstreamProviderId,
    },
  })
  return body
}

function ask({ client_id }: Made, more: Readonly<Record<string, string>> = {}): string {
  const request = { client_id, response_type: 'code', scope: 'openid', redirect_uri: REDIRECT }
  const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }
  const query = new URLSearchParams({ ...request, ...challenge, state: 's', ...more })
  return `${BASE_URL}/sign-in/authorize?${query.toString()}`
}

/** Goes to the page of the attempt. */
async function reachPage(browser: SignInBrowser, url: string): Promise<string> {
  const { location } = await browser.follow(url, PAGE)
  return PAGE.exec(location ?? '')?.[1] ?? ''
}

async function stageOf(attemptId: string): Promise<string> {
  const { stage } = await api.db
    .selectFrom('sign_in_attempt')
    .select('stage')
    .where('id', '=', attemptId)
    .executeTakeFirstOrThrow()
  return stage
}

describe('an upstream provider that cannot be reached', () => {
  const DAY_MS = 86_400_000

  /** A broker application whose provider has let the person in once with this browser, and then goes away. */
  async function rememberAndLose(browser: SignInBrowser) {
    const own = await startIdentityProvider(`${BASE_URL}/sign-in/upstream/callback`)
    const { issuer, clientId, clientSecret } = own
    const { body } = await api.request<Made>('/sign_in_upstream_providers', {
      method: 'POST',
      key: manager,
      payload: { name: `Away ${count}`, issuer, client_id: clientId, client_secret: clientSecret },
    })
    own.account = { subject: `s${count}`, email: person.email, email_verified: true }
    const config = await make(Number(body.id))
    const { location } = await browser.follow(ask(config))
    const back = new URL(`${BASE_URL}/sign-in/upstream/callback`)
    for (const [name, value] of Object.entries(await own.visit(location ?? ''))) {
      back.searchParams.set(name, value)
    }
    expect(await stageOf(await reachPage(browser, back.href))).toBe('device')
    await own.close()
    // What the provider says of itself is known for a minute.
    api.clock.advance(61_000)
    return config
  }
  const setOutage = async (upstreamOutage: 'refuse' | 'remembered_person') =>
    updateSignInPolicy(api.db, { upstreamOutage }, api.clock.now())
  const begin = async (config: Made, browser: SignInBrowser, hint = {}) => {
    const id = await reachPage(browser, ask(config, hint))
    return { id, stage: await stageOf(id) }
  }
  afterEach(async () => setOutage('refuse'))

  it('lets nobody in by default', async () => {
    const browser = browse()
    const config = await rememberAndLose(browser)
    const { id, stage } = await begin(config, browser)
    expect(stage).toBe('refused')
    const { refusal_code: code } = await api.db
      .selectFrom('sign_in_attempt')
      .select('refusal_code')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(code).toBe('upstream_unreachable')
  })

  it('takes whom the browser remembers where the policy says so, as far as the device, unproven and audited', async () => {
    const browser = browse()
    const config = await rememberAndLose(browser)
    await setOutage('remembered_person')
    const { id, stage } = await begin(config, browser)
    expect(stage).toBe('device')
    const attempt = await api.db
      .selectFrom('sign_in_attempt')
      .select(['person_id', 'device_id', 'evidence', 'amr'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(attempt).toMatchObject({
      person_id: person.id,
      device_id: null,
      amr: [],
      evidence: { is_person_proven: false },
    })
    const audited = await api.db
      .selectFrom('audit_entry')
      .select('target_id')
      .where('action', '=', 'sign_in.remembered_person_taken')
      .where('target_id', '=', person.id)
      .execute()
    expect(audited).toHaveLength(1)
  })

  it('takes nobody in another browser, of another name, by a cookie of one’s own, or after three days', async () => {
    const browser = browse()
    const config = await rememberAndLose(browser)
    await setOutage('remembered_person')
    expect((await begin(config, browse())).stage).toBe('refused')
    const other = { login_hint: 'grace@example.com' }
    expect((await begin(config, browser, other)).stage).toBe('refused')
    const cookie = [...browser.cookies.values()].find(({ name }) => name.includes('remembered'))
    if (cookie === undefined) throw new Error('nobody is remembered')
    const forged = browse()
    const value = cookie.value.replace(/^\d+/, '1')
    forged.cookies.set(`/ ${cookie.name}`, { ...cookie, value })
    expect((await begin(config, forged)).stage).toBe('refused')
    expect((await begin(config, browser)).stage).toBe('device')
    api.clock.advance(3 * DAY_MS)
    expect((await begin(config, browser)).stage).toBe('refused')
  })
})
