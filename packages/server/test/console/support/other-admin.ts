/*
 * An admin without a browser, for records that a test needs and for what somebody else does meanwhile: what no test
 * looks at needs no page.
 */
import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { toConsoleSite } from '../../../src/organisation/admin-sign-in/console-site.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { createConsoleSession, OWN_PAGE } from '../../support/console-session.ts'

/** Sends what pages of the console send. */
export interface OtherAdmin {
  /** Answers the body; refusals are thrown. */
  send<Body>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Body>
  readonly email: string
}

/** A new admin who has just signed in to the console at `baseUrl`. */
export async function signInOtherAdmin(
  http: FastifyInstance,
  db: Kysely<Schema>,
  baseUrl: string,
): Promise<OtherAdmin> {
  const { token } = await createConsoleSession(db)
  const headers = { ...OWN_PAGE, cookie: `${toConsoleSite(baseUrl).cookie.name}=${token}` }
  const { admin } = (await http.inject({ url: '/console/session', headers })).json<{
    readonly admin: { readonly email: string }
  }>()
  return {
    email: admin.email,
    send: async (method, path, body) => {
      const payload = body === undefined ? {} : { payload: body }
      const answer = await http.inject({ method, url: path, headers, ...payload })
      if (answer.statusCode >= 400) throw new Error(answer.body)
      return (answer.body === '' ? undefined : answer.json()) as never
    },
  }
}
