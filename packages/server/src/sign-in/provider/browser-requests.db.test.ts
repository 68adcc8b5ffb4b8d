import { buildEndSessionUrl } from 'openid-client'
import { describe, expect, it } from 'vitest'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { relyingPartyForTests } from '../../../test/support/relying-party.ts'

const world = relyingPartyForTests()
const { ask, browse, endReasonOf, exchange, finish, make, reachPage, relyOn } = world

it('takes a request that a form of another site sends', async () => {
  const config = await relyOn(await make())
  const { url } = await ask(config, { login_hint: world.person.email })
  const { pathname, searchParams } = new URL(url)
  const browser = browse()
  const sent = await browser.post(pathname, Object.fromEntries(searchParams), 'cross-site')
  expect([sent.status, sent.location?.startsWith(`${BASE_URL}/sign-in/authorize?`)]).toEqual([
    303,
    true,
  ])
  await reachPage(browser, sent.location ?? '')
  // As a body, and as the address that it becomes.
  for (const state of ['a'.repeat(8_000), 'a'.repeat(7_140)]) {
    const { status, headers } = await browser.post(pathname, { state }, 'cross-site')
    expect([status, headers['content-type']]).toEqual([413, 'text/html; charset=utf-8'])
  }
  const out = await browser.post('/sign-in/end_session', { state: 's' }, 'cross-site')
  expect(out.location).toBe(`${BASE_URL}/sign-in/end_session?state=s`)
})

describe('signing out', () => {
  it('ends the session of the ID token that asks for it', async () => {
    const config = await relyOn(
      await make({ post_logout_redirect_uris: ['https://wiki.example.com/bye'] }),
    )
    const asked = await ask(config, { login_hint: world.person.email })
    const browser = browse()
    const id = await reachPage(browser, asked.url)
    const tokens = await exchange(config, await finish(browser, id), asked)
    const url = buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: 'https://wiki.example.com/bye',
    })
    const page = await browser.get(url.href)
    expect(page.status).toBe(200)
    // A page as all others are: with their look, their policy, and the form of the library.
    expect(page.body).toContain('/sign-in/assets/pages-')
    expect(page.body).not.toMatch(/<script(?![^>]*src=)/)
    expect(page.body).toMatch(/name="xsrf" value="[^"]+"/)
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("form-action 'self' https://wiki.example.com")
    expect(await endReasonOf(id)).toBe('logout')
  })

  it('without an ID token ends that of the application which the person comes from, and no other', async () => {
    const applications = [await make(), await make()] as const
    const browser = browse()
    const attempts: string[] = []
    for (const application of applications) {
      const { url } = await ask(await relyOn(application), { login_hint: world.person.email })
      const id = await reachPage(browser, url)
      await finish(browser, id)
      attempts.push(id)
    }
    const address = `${BASE_URL}/sign-in/end_session`
    const signOut = async (query: string) => {
      const { body } = await browser.get(`${address}${query}`)
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(body) ?? []
      await browser.post(`${address}/confirm`, { xsrf, logout: 'yes' })
      return body
    }
    const page = await signOut(`?client_id=${applications[0].client_id}`)
    expect(page).toContain('the application that sent you here')
    expect(await Promise.all(attempts.map(endReasonOf))).toEqual(['logout', null])
  })

  it('that is refused says that nobody was signed out', async () => {
    const { client_id: id } = await make()
    const query = `client_id=${id}&post_logout_redirect_uri=https://evil.example/`
    const { status, body } = await browse().get(`${BASE_URL}/sign-in/end_session?${query}`)
    expect(status).toBe(400)
    expect(body).toContain('You were not signed out.')
    expect(body).not.toContain('This sign-in cannot go on.')
  })

  it('without any application ends all that this browser was granted, and says so before', async () => {
    const browser = browse()
    const attempts: string[] = []
    for (const application of [await make(), await make()]) {
      const { url } = await ask(await relyOn(application), { login_hint: world.person.email })
      const id = await reachPage(browser, url)
      await finish(browser, id)
      attempts.push(id)
    }
    const { body } = await browser.get(`${BASE_URL}/sign-in/end_session`)
    expect(body).toContain('granted to applications in this browser')
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(body) ?? []
    await browser.post(`${BASE_URL}/sign-in/end_session/confirm`, { xsrf, logout: 'yes' })
    expect(await Promise.all(attempts.map(endReasonOf))).toEqual(['logout', 'logout'])
  })
})
