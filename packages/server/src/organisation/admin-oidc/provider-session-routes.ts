/* Routes by which a browser signs in at the identity provider of the organisation, and comes back from it. */
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { notFound } from '../../platform/app-error.ts'
import { parseId } from '../../platform/ids.ts'
import { readSessionCookie, writeSessionCookie } from '../../platform/http/session-cookie.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { answer, route, type ApiRoute } from '../../schema/operations.ts'
import {
  admitSignIn,
  readOwnSession,
  SESSION_TAGS,
  toBrowser,
  type SignInDependencies,
} from '../admin-sign-in/browser-input.ts'
import { assertTrustedDevice } from '../admin-sign-in/device-trust.ts'
import { assertKeepsWayToSignIn, lockWaysToSignIn } from '../admin-sign-in/keep-way-to-sign-in.ts'
import { answerSession, consoleSessionSchema } from '../admin-sign-in/session-json.ts'
import { signInFailed } from '../admin-sign-in/sign-in.ts'
import { assertSteppedUp } from '../admin-sign-in/step-up.ts'
import { findProvider } from './identity-provider-store.ts'
import { deleteIdentity, listIdentities, type Identity } from './identity-store.ts'
import { describeRefusal } from './provider-gateway.ts'
import {
  beginAtProvider,
  type ProviderSignInDependencies,
  type WantedSignIn,
} from './provider-attempt.ts'
import { connectProvider, signInByProvider, stepUpByProvider } from './provider-sign-in.ts'
import {
  ATTEMPT_COOKIE_SECONDS,
  attemptCookie,
  openAttempt,
  sealAttempt,
} from './sign-in-attempt.ts'

const PATH = '/console/session/provider'

export type ProviderRouteDependencies = ProviderSignInDependencies &
  Pick<SignInDependencies, 'site' | 'rateLimiter' | 'deviceTrust'>

const begunSchema = z
  .object({ url: z.string().describe('Where the browser goes now.') })
  .meta({ id: 'BegunSignIn' })

const answerText = z.string().max(4_096)
const answerBody = z.object({
  state: answerText,
  code: answerText.optional(),
  iss: answerText.optional(),
  error: answerText.optional(),
})

const identitySchema = z
  .object({
    id: z.string(),
    issuer: z.string(),
    is_in_use: z.boolean().describe('Whether it is that of the provider that is set up.'),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
  })
  .meta({ id: 'AdminIdentity' })

/** Signing in by the identity provider. */
export function providerSessionRoutes(dependencies: ProviderRouteDependencies): ApiRoute[] {
  return [
    ...publicRoutes(dependencies),
    ...ownRoutes(dependencies),
    finishRoute(dependencies),
    ...identityRoutes(dependencies),
  ]
}

function publicRoutes(dependencies: ProviderRouteDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'public' } as const
  return [
    route({
      ...access,
      method: 'GET',
      path: PATH,
      summary: 'Show by which identity provider admins sign in',
      responses: {
        200: z.object({ name: z.string().nullable().describe('Null when there is none.') }),
      },
      handler: async () => {
        const provider = await findProvider(dependencies.db)
        return { name: provider?.enabled === true ? provider.name : null }
      },
    }),
    route({
      ...access,
      method: 'POST',
      path: `${PATH}/start`,
      summary: 'Begin a sign-in at the identity provider',
      description: 'Sets a cookie, without which no other browser can end the sign-in.',
      responses: { 200: begunSchema },
      handler: async ({ headers, address }) => {
        await admitSignIn(dependencies, headers, address)
        return begin(dependencies, { purpose: 'sign_in', sessionId: null })
      },
    }),
  ]
}

function ownRoutes(dependencies: ProviderRouteDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session', method: 'POST' } as const
  const shape = { responses: { 200: begunSchema } }
  return [
    route({
      ...access,
      ...shape,
      path: `${PATH}/step_up`,
      summary: 'Begin a step-up at the identity provider',
      description: 'The provider asks the admin anew, whoever is signed in there.',
      handler: async ({ headers, address }) => {
        await admitSignIn(dependencies, headers, address)
        const { session } = await readOwnSession(dependencies, headers)
        return begin(dependencies, { purpose: 'step_up', sessionId: session.id })
      },
    }),
    route({
      ...access,
      ...shape,
      path: `${PATH}/connect`,
      summary: 'Begin to connect an account at the identity provider',
      description: 'Asks for a step-up, but right after a one-time link.',
      handler: async ({ headers, address }) => {
        await admitSignIn(dependencies, headers, address)
        const { session } = await readOwnSession(dependencies, headers)
        if (!session.isSetupPending) assertSteppedUp(session)
        return begin(dependencies, { purpose: 'connect', sessionId: session.id })
      },
    }),
  ]
}

async function begin(dependencies: ProviderRouteDependencies, wanted: WantedSignIn) {
  const { attempt, url } = await beginAtProvider(dependencies, wanted)
  const cookie = attemptCookie(dependencies.site)
  const value = sealAttempt(dependencies.sealer, attempt)
  return answer(
    200,
    { url },
    { 'set-cookie': writeSessionCookie(cookie, value, ATTEMPT_COOKIE_SECONDS) },
  )
}

function finishRoute(dependencies: ProviderRouteDependencies): ApiRoute {
  return route({
    tags: SESSION_TAGS,
    permission: 'public',
    method: 'POST',
    path: PATH,
    summary: 'End what was begun at the identity provider',
    description:
      'With what the provider has sent the browser back with. Sets the cookie of the session: of a new one after a sign-in.',
    body: answerBody,
    example: { body: { state: 'c3RhdGU', code: 'Y29kZQ', iss: 'https://login.example.com' } },
    mayConflict: true,
    responses: { 200: consoleSessionSchema },
    handler: async (context) => {
      const { body, headers, address, requestId } = context
      await admitSignIn(dependencies, headers, address)
      const cookie = readSessionCookie(headers, attemptCookie(dependencies.site))
      const attempt = openAttempt(dependencies, cookie, body.state)
      const { code, state, iss, error } = body
      if (error !== undefined || code === undefined)
        throw signInFailed(describeRefusal(error ?? ''))
      const answered = { attempt, answer: { code, state, iss } }
      if (attempt.purpose === 'sign_in') {
        const browser = toBrowser(dependencies.site, headers, address)
        const token = await signInByProvider(dependencies, answered, { requestId, browser })
        return answerSession(dependencies, token)
      }
      const { principal, session } = await readOwnSession(dependencies, headers)
      assertTrustedDevice(session)
      if (session.id !== attempt.sessionId) {
        throw signInFailed('Somebody else has signed in meanwhile. Begin again.')
      }
      const isConnecting = attempt.purpose === 'connect'
      if (isConnecting && !session.isSetupPending) assertSteppedUp(session)
      const own = { session, origin: toOrigin({ principal, requestId, address }) }
      const token = isConnecting
        ? await connectProvider(dependencies, answered, own)
        : await stepUpByProvider(dependencies, answered, own)
      return answerSession(dependencies, token)
    },
  })
}

function identityRoutes(dependencies: ProviderRouteDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session' } as const
  const { db, runChange } = dependencies
  const path = '/console/session/identities'
  return [
    route({
      ...access,
      method: 'GET',
      path,
      summary: 'List the own accounts at identity providers',
      responses: { 200: z.object({ data: z.array(identitySchema) }) },
      handler: async ({ principal }) => {
        const provider = await findProvider(db)
        const issuer = provider?.enabled === true ? provider.issuer : undefined
        const identities = await listIdentities(db, principal.id)
        return { data: identities.map((identity) => toIdentityJson(identity, issuer)) }
      },
    }),
    route({
      ...access,
      method: 'DELETE',
      path: `${path}/:id`,
      stepUp: true,
      summary: 'Disconnect an own account at an identity provider',
      description: 'The last way to sign in cannot be removed: 409.',
      responses: { 200: identitySchema },
      handler: async (context) => {
        const { principal, params } = context
        const id = parseId(params.id, 'identity')
        return runChange(toOrigin(context), async (change) => {
          await lockWaysToSignIn(change, principal.id)
          const identity = await deleteIdentity(change.tx, principal.id, id)
          if (identity === undefined) throw notFound('identity', id)
          await assertKeepsWayToSignIn(change, principal.id)
          change.recordAudit({
            action: 'admin_identity.deleted',
            target: { type: 'admin_user', id: principal.id },
            description: `disconnected an account at ${identity.issuer}`,
            before: { issuer: identity.issuer, subject: identity.subject },
          })
          return toIdentityJson(identity, undefined)
        })
      },
    }),
  ]
}

function toIdentityJson(identity: Identity, issuer: string | undefined) {
  return {
    id: identity.id,
    issuer: identity.issuer,
    is_in_use: identity.issuer === issuer,
    created_at: toTimestamp(identity.createdAt),
    last_used_at: toTimestamp(identity.lastUsedAt),
  }
}
