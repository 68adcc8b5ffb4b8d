/*
 * A browser that signs in, as far as the service can tell: it keeps cookies, follows redirections, opens the ports of
 * the proof, and listens until the sign-in is over. It draws nothing.
 */
import { createHash, randomBytes } from 'node:crypto'
import { request as sendHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request } from 'undici'
import type { BrowserSocket } from './sign-in-devices.ts'

/** An application without a secret; RFC 7636 stands in for it. */
export interface BenchApplication {
  readonly clientId: string
  readonly redirectUri: string
}

const REDIRECTIONS_MAX = 10

/** One browser profile. */
export class SignInClient {
  readonly #url: string
  readonly #cookies = new Map<string, string>()

  constructor(url: string) {
    this.#url = url
  }

  /**
   * Signs somebody in and answers the ID token. `onOpened` is told of the connections, before the device is asked.
   *
   * @throws Error when the sign-in ends otherwise
   */
  async signIn(
    application: BenchApplication,
    email: string,
    onOpened: (sockets: readonly BrowserSocket[]) => void,
  ): Promise<string> {
    const verifier = randomBytes(32).toString('base64url')
    const begun = await this.#follow(toAuthorization(application, email, verifier))
    const attempt = new URL(begun).pathname
    await this.#prove(attempt, onOpened)
    await this.#send('GET', attempt)
    await this.#awaitEnd(attempt)
    const end = new URL(await this.#follow(`${attempt}/return`, application.redirectUri))
    const code = end.searchParams.get('code')
    if (code === null) throw new Error(`the sign-in ended with ${end.search}`)
    return redeem(this.#url, application, code, verifier)
  }

  /** Takes the cookie of a sign-in that another browser began. */
  adopt(cookie: string): void {
    this.#keep(cookie)
  }

  /** Sends a form of a page without members. */
  async post(path: string): Promise<number> {
    return (await this.#send('POST', path, '')).status
  }

  async #prove(attempt: string, onOpened: (sockets: readonly BrowserSocket[]) => void) {
    const { text } = await this.#send('POST', `${attempt}/proof`)
    const { ports, path } = JSON.parse(text) as { ports: readonly number[]; path: string }
    const opened: { socket: BrowserSocket; close: () => void }[] = []
    try {
      for (const port of ports) opened.push(await this.#open(port, path))
      onOpened(opened.map(({ socket }) => socket))
      await this.#send('POST', `${attempt}/proof/result`)
    } finally {
      for (const { close } of opened) close()
    }
  }

  async #open(port: number, path: string): Promise<{ socket: BrowserSocket; close: () => void }> {
    const headers = { cookie: this.#cookie(), origin: this.#url, 'sec-fetch-site': 'same-site' }
    const [response, sent] = await new Promise<[IncomingMessage, ClientRequest]>(
      (resolve, reject) => {
        const outgoing = sendHttp({ host: '127.0.0.1', port, path, headers, agent: false })
        outgoing.on('error', reject)
        outgoing.once('response', (answer) => resolve([answer, outgoing]))
        outgoing.end()
      },
    )
    response.on('error', () => undefined).resume()
    if (response.statusCode !== 200) throw new Error(`a port answered ${response.statusCode ?? 0}`)
    const localPort = sent.socket?.localPort ?? 0
    return { socket: { port, localPort }, close: () => sent.destroy() }
  }

  /** The stream of events ends with the sign-in. */
  async #awaitEnd(attempt: string): Promise<void> {
    const { text } = await this.#send('GET', `${attempt}/events`)
    if (!text.includes('"stage":"done"'))
      throw new Error(`the sign-in stopped: ${text.slice(-800)}`)
  }

  /** Goes on to where answers lead until there is a page, or to `stopAt`, and answers where that is. */
  async #follow(path: string, stopAt?: string): Promise<string> {
    let at = new URL(path, this.#url).href
    for (let count = 0; count < REDIRECTIONS_MAX; count += 1) {
      if (stopAt !== undefined && at.startsWith(stopAt)) return at
      const { location } = await this.#send('GET', at)
      if (location === undefined) return at
      at = new URL(location, at).href
    }
    throw new Error(`redirected for ever: ${at}`)
  }

  async #send(method: 'GET' | 'POST', path: string, form?: string) {
    const url = new URL(path, this.#url)
    const { statusCode, headers, body } = await request(url, {
      method,
      headers: {
        cookie: this.#cookie(),
        ...(method === 'POST' ? { origin: this.#url, 'sec-fetch-site': 'same-origin' } : {}),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { body: form }),
    })
    const text = await body.text()
    for (const cookie of [headers['set-cookie'] ?? []].flat()) this.#keep(cookie)
    if (statusCode >= 400)
      throw new Error(`${method} ${url.pathname} answered ${statusCode}: ${text}`)
    return { status: statusCode, text, location: [headers['location']].flat()[0] }
  }

  #cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(text: string): void {
    const [pair = ''] = text.split(';')
    const at = pair.indexOf('=')
    this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
  }
}

/** The application exchanges the code. RFC 6749 section 4.1.3. */
async function redeem(
  url: string,
  { clientId, redirectUri }: BenchApplication,
  code: string,
  verifier: string,
): Promise<string> {
  const { statusCode, body } = await request(`${url}/sign-in/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, code_verifier: verifier },
      ...{ client_id: clientId, redirect_uri: redirectUri },
    }).toString(),
  })
  const text = await body.text()
  const { id_token: idToken } = JSON.parse(text) as { readonly id_token?: string }
  if (idToken !== undefined) return idToken
  throw new Error(`the code was answered ${statusCode}: ${text}`)
}

function toAuthorization(
  { clientId, redirectUri }: BenchApplication,
  email: string,
  verifier: string,
): string {
  const query = new URLSearchParams({
    ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid' },
    login_hint: email,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return `/sign-in/authorize?${query.toString()}`
}
