/*
 * Admins who use the console from their devices, for tests: what a browser holds in which an admin has signed in, and
 * what one holds in which a person has signed in to the own pages. Owns no expectation.
 */
import { createHash, randomUUID } from 'node:crypto'
import { HOUR_MS } from '../../src/platform/clock.ts'
import { insertGrantedSession } from '../../src/sign-in/sessions/granted-session-store.ts'
import type { ComposedApi } from './composed-api.ts'
import { createConsoleSession, toCookie, type TestSessionOptions } from './console-session.ts'
import { insertDevice, insertPerson } from './factories.ts'
import { inOrder } from './sign-in-fixtures.ts'

/** The cookie of the pages of a person. */
export const PERSON_COOKIE = '__Host-heliograph-person'

/** What was answered. */
export interface ConsoleAnswer {
  readonly status: number
  readonly code: string | undefined
  readonly body: Record<string, unknown>
  readonly headers: Record<string, unknown>
}

type Http = ComposedApi['http']

/** Sends a request to a service. */
export async function askService(
  http: Http,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  payload?: object,
): Promise<ConsoleAnswer> {
  const answer = await http.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = String(answer.headers['content-type']).includes('json')
  const body = isJson ? answer.json<Record<string, unknown>>() : {}
  return {
    status: answer.statusCode,
    code: body['code'] as string | undefined,
    body,
    headers: answer.headers,
  }
}

/** Somebody with a device. */
export interface DeviceOwner {
  readonly personId: string
  readonly deviceId: string
  /** The cookie of a browser in which the person has just signed in to the own pages. */
  readonly cookie: string
}

/** How a device and the sign-in to the own pages differ from those that are in order. */
export interface DeviceOwnerOptions {
  readonly device?: Parameters<typeof insertDevice>[1]
  readonly grant?: Partial<Parameters<typeof insertGrantedSession>[1]>
}

/** A browser in which an admin has signed in. */
export class AdminBrowser {
  readonly #http: Http
  readonly id: string
  readonly adminId: string
  readonly email: string
  headers: Readonly<Record<string, string>>

  constructor(http: Http, facts: Pick<AdminBrowser, 'id' | 'adminId' | 'email' | 'headers'>) {
    this.#http = http
    this.id = facts.id
    this.adminId = facts.adminId
    this.email = facts.email
    this.headers = facts.headers
  }

  /** Binds the session, with the cookie of a person or without. */
  async bind(personCookie?: string): Promise<ConsoleAnswer> {
    const own = this.headers['cookie'] ?? ''
    const cookie = personCookie === undefined ? own : `${own}; ${personCookie}`
    const headers = { ...this.headers, cookie }
    const answer = await askService(this.#http, 'POST', '/console/session/device', headers)
    const [, token] = /heliograph_session=([^;]+)/.exec(String(answer.headers['set-cookie'])) ?? []
    if (token !== undefined) this.headers = { ...this.headers, cookie: toCookie(token) }
    return answer
  }

  /** Asks a service: its own, or another process of it. */
  get(url: string, http = this.#http): Promise<ConsoleAnswer> {
    return askService(http, 'GET', url, this.headers)
  }

  patch(url: string, payload: object): Promise<ConsoleAnswer> {
    return askService(this.#http, 'PATCH', url, this.headers, payload)
  }
}

/** Makes admins, people and devices of a service. */
export class AdminDeviceWorld {
  readonly #api: ComposedApi

  constructor(api: ComposedApi) {
    this.#api = api
  }

  get db(): ComposedApi['services']['db'] {
    return this.#api.services.db
  }

  ask(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    payload?: object,
  ): Promise<ConsoleAnswer> {
    return askService(this.#api.http, method, url, headers, payload)
  }

  /** Whether the organisation asks its admins for a trusted device from now on. */
  async requireDevices(isRequired: boolean): Promise<void> {
    await this.db
      .updateTable('organisation')
      .set({ admins_require_trusted_device: isRequired })
      .execute()
  }

  /** A person with a device that is in order, who has just signed in to the own pages. */
  async addOwner(email: string, { device, grant }: DeviceOwnerOptions = {}): Promise<DeviceOwner> {
    const personId = await insertPerson(this.db, { email })
    const own = { ...inOrder(), owner_person_id: personId, ...device }
    const deviceId = await insertDevice(this.db, own)
    return { personId, deviceId, cookie: await this.signInToPages(personId, deviceId, grant) }
  }

  /** Answers the cookie of a person who has just signed in to the own pages. */
  async signInToPages(
    personId: string,
    deviceId: string,
    grant: DeviceOwnerOptions['grant'] = {},
  ): Promise<string> {
    const token = randomUUID()
    const at = new Date()
    await this.db.transaction().execute((tx) =>
      insertGrantedSession(tx, {
        id: randomUUID(),
        sid: randomUUID(),
        applicationId: null,
        personId,
        deviceId,
        assurance: 'live',
        attemptId: null,
        cookieHash: createHash('sha256').update(`person ${token}`).digest(),
        grantedAt: at,
        expiresAt: new Date(at.getTime() + HOUR_MS),
        ...grant,
      }),
    )
    return `${PERSON_COOKIE}=${token}`
  }

  async signIn(options: TestSessionOptions = {}): Promise<AdminBrowser> {
    const session = await createConsoleSession(this.db, options)
    const { email } = await this.db
      .selectFrom('admin_user')
      .select('email')
      .where('id', '=', session.adminId)
      .executeTakeFirstOrThrow()
    return new AdminBrowser(this.#api.http, { ...session, email })
  }
}
