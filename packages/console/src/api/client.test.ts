import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { client, listenToSession, sendForToken } from './client.ts'

const ENDED = { code: 'unauthenticated', message: 'The session has ended. Sign in again.' }
const refusal = (status: number, body: object) => Response.json(body, { status })

// Whether somebody uses the page is seen by a browser's events.
vi.mock('./attendance.ts', () => ({ isUnattended: () => false }))

let answer: (request: Request) => Promise<Response> | Response
const asked: string[] = []
const ended = vi.fn<() => void>()

beforeEach(() => {
  asked.length = 0
  ended.mockClear()
  listenToSession({ stepUp: async () => false, ended, deviceRefused: () => undefined })
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(new URL(request.url).pathname)
    return answer(request)
  })
})
afterEach(() => vi.unstubAllGlobals())

const ask = (path: string, options: object = {}) =>
  client.get({ baseUrl: 'http://localhost', url: path, ...options })

describe('a request that is refused while the session gets another token', () => {
  it('is sent again once the browser has the token', async () => {
    let bind: (response: Response) => void = () => undefined
    const bound = new Promise<Response>((resolve) => (bind = resolve))
    let isBound = false
    answer = (request) => {
      if (request.url.endsWith('/bind')) return bound
      return isBound ? Response.json({ id: '1' }) : refusal(401, ENDED)
    }
    const binding = ask('/bind', { fetch: sendForToken })
    await vi.waitFor(() => expect(asked).toEqual(['/bind']))
    const reading = ask('/session')
    await vi.waitFor(() => expect(asked).toEqual(['/bind', '/session']))
    // Its refusal is there; what is still under way is the token.
    await vi.waitFor(async () => expect((await navigator.locks.query()).pending).toHaveLength(1))
    expect(asked).toHaveLength(2)
    isBound = true
    bind(Response.json({}))
    await binding
    expect((await reading).data).toEqual({ id: '1' })
    expect(ended).not.toHaveBeenCalled()
  })

  it('says that the session has ended when it is refused with that token too', async () => {
    answer = () => refusal(401, ENDED)
    await expect(ask('/session')).rejects.toMatchObject({ code: 'unauthenticated' })
    expect([asked, ended.mock.calls.length]).toEqual([['/session', '/session'], 1])
  })

  it('waits for nobody when it is the one that gives the token', async () => {
    answer = () => refusal(401, ENDED)
    await expect(ask('/bind', { fetch: sendForToken })).rejects.toMatchObject({ status: 401 })
    expect([asked, ended.mock.calls.length]).toEqual([['/bind'], 1])
  })
})

it('a proof that was not taken is not sent again', async () => {
  answer = () => refusal(401, { code: 'sign_in_failed', message: 'That was not right.' })
  await expect(ask('/password')).rejects.toMatchObject({ code: 'sign_in_failed' })
  expect([asked, ended.mock.calls.length]).toEqual([['/password'], 0])
})
