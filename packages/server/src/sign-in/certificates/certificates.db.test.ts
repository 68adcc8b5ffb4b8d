import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import {
  issueClientCertificate,
  type TestCertificate,
} from '../../../test/support/client-certificates.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import {
  beginTestAttempt,
  identifyTestPerson,
  inOrder,
  insertApplication,
} from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SoftwareBrowserKey } from '../../../test/support/software-browser-key.ts'
import { updateAnsweredQuestions } from '../../posture/device-questions/question-store.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { writeAttemptCookie } from '../attempts/attempt-cookie-input.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { toKeyChallenge, type KeySignature } from '../browser-keys/key-statement.ts'
import { showBrowserKey } from '../browser-keys/show-browser-key.ts'

const PROXY = '10.0.0.5'

let api: ServiceApi
let certificate: TestCertificate
let applicationId: string
let person: { readonly id: string; readonly email: string }
let deviceId: string
let count = 0
/** The SHA-1 of what each device holds; one that is missing is silent. */
const held = new Map<string, readonly string[]>()
let answering: NodeJS.Timeout

beforeAll(async () => {
  api = await createServiceApi()
  certificate = await issueClientCertificate('ada-mbp', api.clock.now())
  applicationId = await insertApplication(api.db, { minimum_assurance: 'hardware' })
  answering = setInterval(() => void answerQuestions(), 50)
})
afterAll(async () => {
  clearInterval(answering)
  await api.close()
})
beforeEach(async () => {
  held.clear()
  await setPolicy(['certificate', 'admin_approval'])
  const email = `ada.${++count}@example.com`
  person = { id: await insertPerson(api.db, { email }), email }
  deviceId = await addDevice()
  held.set(deviceId, [certificate.sha1.toUpperCase()])
})

const addDevice = async (owner = person.id) =>
  insertDevice(api.db, { ...inOrder(), owner_person_id: owner, platform: 'darwin' })

async function setPolicy(
  fallbacks: string[],
  header: object | null = { name: 'X-Client-Cert', proxies: [PROXY] },
) {
  const key = await api.createKey(['Manage Sign-in'])
  const payload = { fallbacks, certificate_header: header }
  const { status } = await api.request('/sign_in_policy', { method: 'PATCH', key, payload })
  expect(status).toBe(200)
}

/** Devices answer what they hold of what they are asked for. */
async function answerQuestions(): Promise<void> {
  const open = await api.db
    .selectFrom('device_question')
    .selectAll()
    .where('status', '=', 'waiting')
    .where('purpose', '=', 'certificate')
    .execute()
  for (const { id, device_id: device, sql } of open) {
    const certificates = held.get(device)
    if (certificates === undefined) continue
    const rows = certificates
      .filter((sha1) => sql.includes(sha1.toLowerCase()))
      .map((sha1) => ({ sha1 }))
    const answer = { id, status: 'answered', rows, errorMessage: null } as const
    await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      updateAnsweredQuestions(change, device, [answer], api.clock.now()),
    )
  }
}

/** An attempt whose device could not be proven live, of a browser that may hold a key. */
async function begin(key?: SoftwareBrowserKey) {
  const { attempt, secret } = await beginTestAttempt(api.runChange, applicationId)
  await identifyTestPerson(api.runChange, attempt.id, person.email)
  const challenge = toKeyChallenge(attempt, BASE_URL)
  if (key !== undefined) {
    const outcome = await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      showBrowserKey(change, attempt.id, key.show(challenge), BASE_URL),
    )
    if (outcome === 'kept') key.hear()
  }
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    deviceNotProven(change, attempt.id, { reason: 'unavailable', evidence: {} }),
  )
  const cookie = writeAttemptCookie(attempt.id, secret, BASE_URL).split(';')[0] ?? ''
  return { id: attempt.id, cookie, challenge }
}

interface Shown {
  readonly header?: string | undefined
  readonly from?: string
  readonly cookie?: string
  /** Sent along by the script of the page. */
  readonly newKey?: KeySignature
}

async function show(
  { id, cookie }: Awaited<ReturnType<typeof begin>>,
  { header = certificate.base64, from = PROXY, cookie: other = cookie, newKey }: Shown = {},
) {
  const script = newKey && { public_key: newKey.publicKey, signature: newKey.signature }
  const answer = await api.app.inject({
    method: 'POST',
    url: `/sign-in/attempts/${id}/certificate`,
    remoteAddress: from,
    headers: {
      ...{ cookie: other, origin: BASE_URL, 'sec-fetch-site': 'same-origin' },
      ...{ 'content-type': 'application/x-www-form-urlencoded', 'x-client-cert': header },
      ...(script && { accept: 'application/json' }),
    },
    payload: script ? `new_key=${encodeURIComponent(JSON.stringify(script))}` : '',
  })
  const { statusCode: status, body } = answer
  return { status, body, attempt: await findAttempt(api.db, id) }
}

describe('a certificate of the browser', () => {
  it('tells the device that holds it, as strongly as a key in hardware', async () => {
    const { status, attempt } = await show(await begin())
    expect([status, attempt?.stage]).toEqual([303, 'posture'])
    expect(attempt).toMatchObject({
      deviceId,
      assurance: 'hardware',
      evidence: { certificate: { subject: 'CN=ada-mbp' }, device_id: deviceId },
    })
  })

  it('leaves the other ways where no device holds it, and says so on the page', async () => {
    held.set(deviceId, [])
    const begun = await begin()
    const { attempt } = await show(begun)
    expect(attempt).toMatchObject({
      stage: 'fallback',
      evidence: { certificate_problem: 'no_match' },
    })
    const page = await api.app.inject({
      url: `/sign-in/attempts/${begun.id}`,
      headers: { cookie: begun.cookie },
    })
    expect(page.body).toContain('None of your devices says that the certificate is its own.')
    expect(page.body).toContain(`/sign-in/attempts/${begun.id}/certificate`)
    held.set(deviceId, [certificate.sha1])
    expect((await show(begun)).attempt?.stage).toBe('posture')
  })

  it('waits for a device that does not answer, and then leaves the other ways', async () => {
    held.clear()
    const { attempt } = await show(await begin())
    expect(attempt).toMatchObject({
      stage: 'fallback',
      evidence: { certificate_problem: 'unreachable' },
    })
  })
})

describe('the key of a browser whose device a certificate tells', () => {
  const listKeys = async () =>
    api.db
      .selectFrom('browser_key')
      .selectAll()
      .where('person_id', '=', person.id)
      .orderBy('bound_at')
      .execute()
  /** A browser that has shown a certificate, and holds a key since. */
  async function bind(): Promise<SoftwareBrowserKey> {
    const key = new SoftwareBrowserKey()
    const begun = await begin()
    const { status, body } = await show(begun, { newKey: key.offer(begun.challenge) })
    expect(status).toBe(200)
    const { stage, browser_key: id } = JSON.parse(body) as { stage: string; browser_key: string }
    expect(stage).toBe('posture')
    key.id = id
    return key
  }

  it('is bound to that device, as by a live proof, once', async () => {
    const key = await bind()
    expect(await listKeys()).toMatchObject([{ id: key.id, device_id: deviceId, ended_at: null }])
    // A browser that holds one gets no other.
    const begun = await begin(key)
    const again = new SoftwareBrowserKey().offer(begun.challenge)
    expect(JSON.parse((await show(begun, { newKey: again })).body)).toMatchObject({
      browser_key: null,
    })
    expect(await listKeys()).toHaveLength(1)
  })

  it('is bound by nobody who has not its private half, nor where no device is told', async () => {
    const begun = await begin()
    const offer = new SoftwareBrowserKey().offer('another sign-in')
    expect((await show(begun, { newKey: offer })).attempt?.stage).toBe('posture')
    held.set(deviceId, [])
    const other = await begin()
    const own = new SoftwareBrowserKey().offer(other.challenge)
    expect((await show(other, { newKey: own })).attempt?.stage).toBe('fallback')
    expect(await listKeys()).toEqual([])
  })

  it('counts its days from the last time it was told', async () => {
    const key = await bind()
    const [bound] = await listKeys()
    api.clock.advance(1_000)
    expect((await show(await begin(key))).attempt?.stage).toBe('posture')
    const [proven] = await listKeys()
    expect(proven?.last_proven_at.getTime()).toBeGreaterThan(bound?.last_proven_at.getTime() ?? NaN)
  })

  it('ends where the certificate tells another device than its own', async () => {
    const key = await bind()
    const other = await addDevice()
    held.set(deviceId, [])
    held.set(other, [certificate.sha1])
    const { attempt } = await show(await begin(key))
    expect(attempt).toMatchObject({ stage: 'posture', deviceId: other })
    expect(await listKeys()).toMatchObject([{ id: key.id, end_reason: 'other_device' }])
  })

  it('ends with its copy, when the second of them comes to show a certificate', async () => {
    const key = await bind()
    const copy = key.copy()
    await show(await begin(key))
    await show(await begin(copy))
    expect(await listKeys()).toMatchObject([{ id: key.id, end_reason: 'copied' }])
  })
})

describe('whoever attacks with a certificate', () => {
  it('is not believed without the proxy', async () => {
    const { attempt } = await show(await begin(), { from: '192.0.2.66' })
    expect(attempt).toMatchObject({
      stage: 'fallback',
      evidence: { certificate_problem: 'missing' },
    })
  })

  it('gets nowhere with one that two devices hold', async () => {
    held.set(await addDevice(), [certificate.sha1])
    const { attempt } = await show(await begin())
    expect(attempt).toMatchObject({
      stage: 'fallback',
      evidence: { certificate_problem: 'several' },
    })
  })

  it('gets nowhere with the device of somebody else', async () => {
    held.clear()
    const other = await addDevice(await insertPerson(api.db, { email: `bob.${count}@example.com` }))
    held.set(other, [certificate.sha1])
    held.set(deviceId, [])
    expect((await show(await begin())).attempt).toMatchObject({ stage: 'fallback', deviceId: null })
  })

  it('gets nowhere with what is no certificate', async () => {
    const { attempt } = await show(await begin(), { header: `${certificate.base64}' or 1=1 --` })
    expect(attempt).toMatchObject({
      stage: 'fallback',
      evidence: { certificate_problem: 'invalid' },
    })
  })

  it('cannot use the sign-in of another browser', async () => {
    const [mine, other] = [await begin(), await begin()]
    const { status, attempt } = await show(mine, { cookie: other.cookie })
    expect([status, attempt?.stage]).toEqual([404, 'fallback'])
  })

  it('gets nowhere where the policy has not this way, or names no proxy', async () => {
    const begun = await begin()
    await setPolicy(['admin_approval'])
    expect((await show(begun)).status).toBe(409)
    await setPolicy(['certificate'], null)
    expect((await show(begun)).status).toBe(409)
    expect((await findAttempt(api.db, begun.id))?.stage).toBe('fallback')
  })

  it('asks devices a few times at most', async () => {
    held.set(deviceId, [])
    const begun = await begin()
    for (let tries = 0; tries < 5; tries += 1) expect((await show(begun)).status).toBe(303)
    held.set(deviceId, [certificate.sha1])
    expect((await show(begun)).status).toBe(409)
  })
})
