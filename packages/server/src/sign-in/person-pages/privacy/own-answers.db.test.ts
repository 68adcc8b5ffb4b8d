import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { addSignedInPerson, openPersonPages } from '../../../../test/support/signed-in-person.ts'

let api: ServiceApi
let posture: Posture
let pages: ReturnType<typeof openPersonPages>

beforeAll(async () => {
  api = await createServiceApi()
  posture = createPosture(api.db)
  pages = openPersonPages(api)
})

afterAll(async () => {
  await api.close()
})

it('the page of a check shows the last answers of the own devices as they were, and nobody else’s', async () => {
  const ada = await addSignedInPerson(api, posture)
  const eve = await addSignedInPerson(api, posture)
  const path = `/sign-in/privacy/checks/${ada.checkId}`
  const { body } = await pages.get(path, ada.cookie)
  expect(body).toContain(`<h3>device-${ada.number}</h3>`)
  expect(body).toContain(`<dt><code>state</code></dt><dd>own-${ada.number}</dd>`)
  expect(body).toContain('<dt><code>KOLIDE_CHECK_STATUS</code></dt><dd>FAIL</dd>')
  expect(body).not.toContain('topsecret')
  // The check runs on the device of the other person too, and has no answer of it.
  const others = (await pages.get(path, eve.cookie)).body
  expect(others).not.toContain(`own-${ada.number}`)
  expect(others).not.toContain(`device-${ada.number}`)
})

it('whoever is not signed in sees no answer, and is led back to the check by a sign-in', async () => {
  const { checkId, number } = await addSignedInPerson(api, posture)
  const path = `/sign-in/privacy/checks/${checkId}`
  const { body, statusCode } = await pages.get(path)
  expect(statusCode).toBe(200)
  expect(body).not.toContain(`own-${number}`)
  expect(body).toContain(`href="${path}/my-answer"`)
  const asked = await pages.get(`${path}/my-answer`)
  expect(asked.statusCode).toBe(401)
  expect(asked.body).toContain(`name="path" value="${path}/my-answer"`)
  const begun = await pages.post('/sign-in/me/sign-in', '', {
    email: 'ada@example.com',
    path: `${path}/my-answer`,
  })
  const attempt = await api.db
    .selectFrom('sign_in_attempt')
    .select('interaction')
    .where('id', '=', String(begun.headers.location).split('/').at(-1) ?? '')
    .executeTakeFirst()
  expect(attempt?.interaction).toEqual({ kind: 'person_pages', path: `${path}/my-answer` })
})

it('whoever has signed in meanwhile goes on to the check', async () => {
  const { checkId, cookie } = await addSignedInPerson(api, posture)
  const path = `/sign-in/privacy/checks/${checkId}`
  expect((await pages.get(`${path}/my-answer`, cookie)).headers.location).toBe(path)
})

it('a built-in check shows an invented answer for each of its platforms, in words and as it is', async () => {
  const { id } = await api.db
    .selectFrom('posture_check')
    .select('id')
    .where('slug', '=', 'disk-encryption')
    .executeTakeFirstOrThrow()
  const { body } = await pages.get(`/sign-in/privacy/checks/${id}?language=de`)
  expect(body).toContain('<h1>Festplattenverschlüsselung</h1>')
  expect(body).toContain('Keine Dateinamen und keine Wiederherstellungsschlüssel.')
  expect(body).toContain('Wer laptop1 findet oder stiehlt, kann die Festplatte ausbauen')
  expect(body).toContain('<p>FileVault ist aus.</p>')
  expect(body).toContain('<dt><code>protection_status</code></dt><dd>0</dd>')
  expect(body).toContain('Das System startet von /dev/dm-1')
})
