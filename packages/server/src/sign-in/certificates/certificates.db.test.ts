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
import { updateAnsweredQuestions } from '../../posture/device-questions/question-store.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { writeAttemptCookie } from '../attempts/attempt-cookie-input.ts'
import { deviceNotProven } from '../attempts/know-device.ts'

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
    await updateAnsweredQuestions(api.db, device, [answer], api.clock.now())
  }
}

/** An attempt whose device could not be proven live. */
async function begin() {
  const { attempt, secret } = await beginTestAttempt(api.runChange, applicationId)
  await identifyTestPerson(api.runChange, attempt.id, person.email)
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    deviceNotProven(change, attempt.id, { reason: 'unavailable', evidence: {} }),
  )
  const cookie = writeAttemptCookie(attempt.id, secret, BASE_URL).split(';')[0] ?? ''
  return { id: attempt.id, cookie }
}

interface Shown {
  readonly header?: string | undefined
  readonly from?: string
  readonly cookie?: string
}

async function show(
  { id, cookie }: Awaited<ReturnType<typeof begin>>,
  { header = certificate.base64, from = PROXY, cookie: other = cookie }: Shown = {},
) {
  const answer = await api.app.inject({
    method: 'POST',
    url: `/sign-in/attempts/${id}/certificate`,
    remoteAddress: from,
    headers: {
      ...{ cookie: other, origin: BASE_URL, 'sec-fetch-site': 'same-origin' },
      ...{ 'content-type': 'application/x-www-form-urlencoded', 'x-client-cert': header },
    },
    payload: '',
  })
  return { status: answer.statusCode, attempt: await findAttempt(api.db, id) }
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
