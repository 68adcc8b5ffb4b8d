/*
 * Routes about the session of the browser itself: who is signed in, the end of it, and its beginning by a
 * one-time link.
 */
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { writeSessionCookie } from '../../platform/http/session-cookie.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { answer, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import {
  admitSignIn,
  readOwnSession,
  SESSION_TAGS,
  toBrowser,
  type SignInDependencies,
} from './browser-input.ts'
import { answerSession, consoleSessionSchema, toConsoleSessionJson } from './session-json.ts'
import { exchangeLink, getLink } from './sign-in-link.ts'
import { endSession } from './sign-in.ts'

const tokenSchema = z.string().min(1).max(200).describe('What follows `#token=` in the link.')

/** The session of the browser, and how it begins by a one-time link. */
export function sessionRoutes(dependencies: SignInDependencies): ApiRoute[] {
  return [...ownSessionRoutes(dependencies), ...linkRoutes(dependencies)]
}

function ownSessionRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const { runChange, site } = dependencies
  const access = { tags: SESSION_TAGS, permission: 'session', path: '/console/session' } as const
  return [
    route({
      ...access,
      method: 'GET',
      opensWithoutDevice: true,
      summary: 'Show who is signed in',
      responses: { 200: consoleSessionSchema },
      handler: async ({ headers }) =>
        toConsoleSessionJson(await readOwnSession(dependencies, headers)),
    }),
    route({
      ...access,
      method: 'DELETE',
      opensWithoutDevice: true,
      summary: 'Sign out',
      description: 'The session ends at once, in every process of the service.',
      responses: { 204: noContent },
      handler: async (context) => {
        const { id } = context.principal.session
        await runChange(toOrigin(context), (change) => endSession(change, id))
        return answer(204, undefined, { 'set-cookie': writeSessionCookie(site.cookie, '', 0) })
      },
    }),
  ]
}

const linkSchema = z
  .object({
    kind: z.enum(['first_admin', 'invitation', 'recovery', 'demo']),
    email: z.string().nullable().describe('Whom it signs in; null for an admin to be made.'),
    name: z.string().nullable(),
    expires_at: timestampSchema,
  })
  .meta({ id: 'SignInLink' })

function linkRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'public', method: 'POST' } as const
  const { db, site } = dependencies
  const example = { token: 'Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbi4' }
  return [
    route({
      ...access,
      path: '/console/session/link_details',
      summary: 'Show whom a one-time link signs in',
      description:
        'The link stays good. Asked before it is used, so that nobody uses it by accident.',
      body: z.object({ token: tokenSchema }),
      example: { body: example },
      responses: { 200: linkSchema },
      handler: async ({ body, headers, address }) => {
        await admitSignIn(dependencies, headers, address)
        const { link, admin } = await getLink(db, body.token)
        return {
          kind: link.kind,
          email: admin?.email ?? null,
          name: admin === undefined ? null : `${admin.firstName} ${admin.lastName}`,
          expires_at: toTimestamp(link.expiresAt),
        }
      },
    }),
    route({
      ...access,
      path: '/console/session/link',
      summary: 'Sign in by a one-time link',
      description:
        'Sets the cookie of the session. The link is used up. The link of the first admin asks for a name and an address.',
      body: z.object({
        token: tokenSchema,
        email: z.string().max(254).optional(),
        first_name: z.string().max(200).optional(),
        last_name: z.string().max(200).optional(),
      }),
      example: { body: example },
      mayConflict: true,
      responses: { 200: consoleSessionSchema },
      handler: async ({ body, headers, address, requestId }) => {
        await admitSignIn(dependencies, headers, address)
        const { email, first_name: firstName, last_name: lastName } = body
        const isNamed = email !== undefined && firstName !== undefined && lastName !== undefined
        const token = await exchangeLink(dependencies, {
          token: body.token,
          firstAdmin: isNamed ? { email, firstName, lastName } : undefined,
          requestId,
          browser: toBrowser(site, headers, address),
        })
        return answerSession(dependencies, token)
      },
    }),
  ]
}
