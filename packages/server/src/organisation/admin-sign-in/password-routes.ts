/* Routes about passwords: signing in by one with a code, the step-up by a code, and the own password. */
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { assertOwnPage } from '../../platform/http/session-cookie.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { noContent, route, type ApiRoute } from '../../schema/operations.ts'
import {
  readOwnSession,
  SESSION_TAGS,
  toBrowser,
  type SignInDependencies,
} from './browser-input.ts'
import { admitCode, admitNewPassword, admitPassword } from './password-input.ts'
import { PASSWORD_INPUT_LENGTH_MAX } from './password-rules.ts'
import { signInByPassword, stepUpByCode } from './password-sign-in.ts'
import { findPassword, type AdminPassword } from './password-store.ts'
import {
  changePassword,
  offerApp,
  removePassword,
  setUpPassword,
  type PasswordDependencies,
} from './passwords.ts'
import { answerSession, consoleSessionSchema } from './session-json.ts'
import { WRONG_CODES_MAX } from './sign-in-way-read.ts'
import { assertSteppedUp } from './step-up.ts'

type PasswordRouteDependencies = SignInDependencies & PasswordDependencies

const newPasswordSchema = z
  .string()
  .max(PASSWORD_INPUT_LENGTH_MAX)
  .describe(
    '12 to 256 characters. Not one that contains the email address or the name of the organisation, or that is guessed easily.',
  )
const codeSchema = z.string().max(20).describe('The six digits that the authenticator app shows.')

const KEY = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const PASSWORD = 'twelve violet lanterns adrift'
const CODE = '123456'

/** Signing in by passwords, and that of the admin who is signed in. */
export function passwordRoutes(dependencies: PasswordRouteDependencies): ApiRoute[] {
  return [
    ...passwordSignInRoutes(dependencies),
    ...passwordSetUpRoutes(dependencies),
    ...ownPasswordRoutes(dependencies),
  ]
}

function passwordSignInRoutes(dependencies: PasswordRouteDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, method: 'POST' } as const
  const { site, rateLimiter } = dependencies
  return [
    route({
      ...access,
      permission: 'public',
      path: '/console/session/password',
      summary: 'Sign in by a password and a code',
      description:
        'Sets the cookie of the session. The answer is the same whatever is wrong. A code is taken once.',
      body: z.object({
        email: z.string().max(254),
        password: z.string().max(PASSWORD_INPUT_LENGTH_MAX),
        code: codeSchema,
      }),
      example: { body: { email: 'ada@example.com', password: PASSWORD, code: CODE } },
      responses: { 200: consoleSessionSchema },
      handler: async ({ body, headers, address, requestId }) => {
        assertOwnPage({ method: 'POST', headers }, site)
        await admitPassword(rateLimiter, { email: body.email, address })
        const browser = toBrowser(site, headers, address)
        return answerSession(
          dependencies,
          await signInByPassword(dependencies, { ...body, requestId, browser }),
        )
      },
    }),
    route({
      ...access,
      permission: 'session',
      path: '/console/session/step_up_code',
      summary: 'Step the session up by a code',
      description:
        'Proves that the admin is there. For five minutes, what asks for it is open then. The session gets a new cookie.',
      body: z.object({ code: codeSchema }),
      example: { body: { code: CODE } },
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        await admitCode(rateLimiter, session.id)
        const { code } = context.body
        return answerSession(
          dependencies,
          await stepUpByCode(dependencies, session, code, toOrigin(context)),
        )
      },
    }),
  ]
}

function passwordSetUpRoutes(dependencies: PasswordRouteDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session', method: 'POST' } as const
  return [
    route({
      ...access,
      path: '/console/session/own_password/options',
      summary: 'Begin to set a password up',
      description:
        'Offers an authenticator app a key. It counts once the app has given a code, within half an hour. Asks for a step-up, but right after a one-time link.',
      responses: {
        200: z.object({
          key: z.string().describe('For typing into the app: base32.'),
          uri: z.string().describe('`otpauth://totp/...`, for a QR code.'),
          proof: z.string().describe('Sent back with the first code.'),
        }),
      },
      handler: async ({ headers }) => {
        const { session } = await readOwnSession(dependencies, headers)
        if (!session.isSetupPending) assertSteppedUp(session)
        return offerApp(dependencies, session)
      },
    }),
    route({
      ...access,
      path: '/console/session/own_password',
      summary: 'Set the own password up',
      description:
        'With an authenticator app, in place of what was set up before; the other sessions of the admin end. Asks for a step-up, but right after a one-time link: the session then opens everything that the admin may do. It gets a new cookie.',
      body: z.object({
        password: newPasswordSchema,
        key: z.string().max(64),
        proof: z.string().max(200),
        code: codeSchema,
      }),
      example: {
        body: { password: PASSWORD, key: KEY, proof: 'Zm9yIGV4YW1wbGUgb25seQ', code: CODE },
      },
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        if (!session.isSetupPending) assertSteppedUp(session)
        await admitNewPassword(dependencies.rateLimiter, session.id)
        const origin = toOrigin(context)
        return answerSession(
          dependencies,
          await setUpPassword(dependencies, session, context.body, origin),
        )
      },
    }),
  ]
}

const ownPasswordSchema = z
  .object({
    created_at: timestampSchema,
    changed_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
    is_closed: z
      .boolean()
      .describe(
        'Too many codes were refused in a row: it signs nobody in until it is set up anew.',
      ),
  })
  .meta({ id: 'AdminPassword' })

function ownPasswordRoutes(dependencies: PasswordRouteDependencies): ApiRoute[] {
  const path = '/console/session/own_password'
  const access = { tags: SESSION_TAGS, permission: 'session', path } as const
  const { db, runChange } = dependencies
  return [
    route({
      ...access,
      method: 'GET',
      summary: 'Show whether there is an own password',
      responses: {
        200: z.object({ password: ownPasswordSchema.nullable().describe('Null without one.') }),
      },
      handler: async ({ principal }) => {
        const stored = await findPassword(db, principal.id)
        return { password: stored === undefined ? null : toPasswordJson(stored) }
      },
    }),
    route({
      ...access,
      method: 'PATCH',
      stepUp: true,
      summary: 'Change the own password',
      description:
        'The authenticator app stays. The other sessions of the admin end; this one gets a new cookie.',
      body: z.object({ password: newPasswordSchema }),
      example: { body: { password: PASSWORD } },
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        await admitNewPassword(dependencies.rateLimiter, session.id)
        const { password } = context.body
        const origin = toOrigin(context)
        return answerSession(
          dependencies,
          await changePassword(dependencies, session, password, origin),
        )
      },
    }),
    route({
      ...access,
      method: 'DELETE',
      stepUp: true,
      summary: 'Remove the own password',
      description:
        'With its authenticator app. The other sessions of the admin end. The last way to sign in cannot be removed: 409.',
      responses: { 204: noContent },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        await runChange(toOrigin(context), (change) => removePassword(change, session))
        return undefined
      },
    }),
  ]
}

function toPasswordJson(password: AdminPassword): z.input<typeof ownPasswordSchema> {
  return {
    created_at: toTimestamp(password.createdAt),
    changed_at: toTimestamp(password.changedAt),
    last_used_at: toTimestamp(password.lastUsedAt),
    is_closed: password.wrongCodeCount >= WRONG_CODES_MAX,
  }
}
