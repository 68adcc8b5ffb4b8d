/*
 * A browser at a site whose proxy asks the service about each request, as far as either can tell: it keeps the cookie
 * of the site, and its proxy says in headers what is asked for.
 */
import type { FastifyInstance } from 'fastify'

/** What the proxy was answered. */
export interface SiteAnswer {
  readonly status: number
  readonly location: string | undefined
  readonly cookie: string | undefined
  readonly body: string
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
}

export interface SiteRequest {
  readonly method?: string
  /** In the place of what the proxy says in headers of its own. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Whether a page is asked for; a script asks otherwise. */
  readonly isPage?: boolean
  /** Where the proxy asks. */
  readonly url?: string
}

/** The proxy that the service trusts in these tests. */
export const SITE_PROXY = '127.0.0.5'

export class SiteBrowser {
  readonly #app: FastifyInstance
  readonly #host: string
  readonly #proxy: string
  /** The value of the `Cookie` header. */
  cookie: string | undefined

  constructor(app: FastifyInstance, host: string, proxy = SITE_PROXY) {
    this.#app = app
    this.#host = host
    this.#proxy = proxy
  }

  /** Asks for an address of the site. */
  async get(path: string, request: SiteRequest = {}): Promise<SiteAnswer> {
    const { method = 'GET', headers = {}, isPage = true, url = '/sign-in/auth' } = request
    const told = {
      'x-forwarded-method': method,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': this.#host,
      'x-forwarded-uri': path,
      'sec-fetch-mode': isPage ? 'navigate' : 'cors',
      cookie: this.cookie,
      ...headers,
    }
    const answer = await this.#app.inject({
      method: 'GET',
      url,
      remoteAddress: this.#proxy,
      headers: Object.fromEntries(
        Object.entries(told).filter((pair): pair is [string, string] => pair[1] !== undefined),
      ),
    })
    const [set, ...others] = [answer.headers['set-cookie'] ?? []].flat()
    if (others.length > 0) throw new Error('several cookies')
    if (set !== undefined) this.cookie = set.split(';')[0]
    const { location } = answer.headers
    return {
      status: answer.statusCode,
      location: location === undefined ? undefined : String(location),
      cookie: set,
      body: answer.body,
      headers: answer.headers,
    }
  }
}
