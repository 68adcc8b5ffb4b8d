/*
 * A browser of a person who signs in, as far as the service can tell: it keeps cookies by their paths, follows
 * redirections within the service, and sends forms as a page of the service does.
 */
import type { FastifyInstance } from 'fastify'

/** An answer that a browser got. */
export interface BrowserAnswer {
  readonly status: number
  /** Where it leads; undefined where it leads nowhere. */
  readonly location: string | undefined
  readonly body: string
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
}

const REDIRECTIONS_MAX = 20

export class SignInBrowser {
  readonly #app: FastifyInstance
  readonly #origin: string
  readonly #address: string
  /** By path and name. */
  readonly cookies = new Map<string, { path: string; name: string; value: string }>()

  constructor(app: FastifyInstance, origin: string, address = '192.0.2.10') {
    this.#app = app
    this.#origin = origin
    this.#address = address
  }

  async get(url: string): Promise<BrowserAnswer> {
    return this.#send('GET', url)
  }

  /** Sends a form from a page of the service, or of another site. */
  async post(
    url: string,
    fields: Readonly<Record<string, string>> = {},
    site: 'same-origin' | 'cross-site' = 'same-origin',
  ): Promise<BrowserAnswer> {
    return this.#send('POST', url, new URLSearchParams(fields).toString(), site)
  }

  /** Goes on to where an answer leads until it leaves the service, or leads nowhere; `stopAt` is not gone to. */
  async follow(url: string, stopAt?: RegExp): Promise<BrowserAnswer> {
    let answer = await this.get(url)
    for (let count = 0; answer.location?.startsWith(this.#origin) === true; count += 1) {
      if (count === REDIRECTIONS_MAX) throw new Error(`redirected for ever: ${answer.location}`)
      if (stopAt?.test(answer.location) === true) return answer
      answer = await this.get(answer.location)
    }
    return answer
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    payload?: string,
    site = 'same-origin',
  ): Promise<BrowserAnswer> {
    const { pathname, search } = new URL(url, this.#origin)
    const cookie = [...this.cookies.values()]
      .filter(({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const answer = await this.#app.inject({
      method,
      url: `${pathname}${search}`,
      remoteAddress: this.#address,
      headers: {
        accept: 'text/html',
        'accept-language': 'en',
        'user-agent': 'Test browser',
        ...(cookie === '' ? {} : { cookie }),
        ...(payload === undefined
          ? {}
          : {
              'content-type': 'application/x-www-form-urlencoded',
              'sec-fetch-site': site,
              origin: this.#origin,
            }),
      },
      ...(payload === undefined ? {} : { payload }),
    })
    for (const text of [answer.headers['set-cookie'] ?? []].flat()) this.#keep(text)
    const { location } = answer.headers
    return {
      status: answer.statusCode,
      location: location === undefined ? undefined : new URL(String(location), this.#origin).href,
      body: answer.body,
      headers: answer.headers,
    }
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split(';').map((part) => part.trim())
    const at = pair.indexOf('=')
    const name = pair.slice(0, at)
    const value = pair.slice(at + 1)
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
    if (value === '') this.cookies.delete(`${path} ${name}`)
    else this.cookies.set(`${path} ${name}`, { path, name, value })
  }
}
