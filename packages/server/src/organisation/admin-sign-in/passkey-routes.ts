/* Routes about passkeys: signing in by one, those of the own admin, and the step-up. */
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { parseId } from '../../platform/ids.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import { notFound } from '../../platform/app-error.ts'
import { findAdminById } from '../admins/find-admin.ts'
import {
  admitSignIn,
  admitSignInOptions,
  admitStepUp,
  assertionSchema,
  attestationSchema,
  readOwnSession,
  SESSION_TAGS,
  toBrowser,
  type SignInDependencies,
} from './browser-input.ts'
import { listPasskeys, type Passkey } from './passkey-store.ts'
import { addPasskey, removePasskey, signInByPasskey, SIGN_IN_PURPOSE } from './passkeys.ts'
import { findPassword } from './password-store.ts'
import { answerSession, consoleSessionSchema } from './session-json.ts'
import { endSetUps } from './set-ups.ts'
import {
  assertSteppedUp,
  registrationPurpose,
  renewSession,
  stepUpByPasskey,
  stepUpPurpose,
} from './step-up.ts'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from './webauthn.ts'

const passkeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    is_backed_up: z.boolean().describe('Whether the passkey is synchronised to other devices.'),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
  })
  .meta({ id: 'Passkey' })

const requestOptionsSchema = z
  .custom<PublicKeyCredentialRequestOptionsJSON>(isObject)
  .meta({ type: 'object', description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()`.' })

const creationOptionsSchema = z.custom<PublicKeyCredentialCreationOptionsJSON>(isObject).meta({
  type: 'object',
  description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
})

const EXAMPLE = { id: 'AQIDBA', rawId: 'AQIDBA', type: 'public-key', clientExtensionResults: {} }
const ASSERTION = {
  ...EXAMPLE,
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
}
const ATTESTATION = { ...EXAMPLE, response: { clientDataJSON: 'e30', attestationObject: 'AA' } }

/** Signing in by passkeys, and those of the admin who is signed in. */
export function passkeyRoutes(dependencies: SignInDependencies): ApiRoute[] {
  return [
    ...signInRoutes(dependencies),
    ...stepUpRoutes(dependencies),
    ...ownPasskeyRoutes(dependencies),
    ...newPasskeyRoutes(dependencies),
  ]
}

function signInRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'public', method: 'POST' } as const
  const { site, webAuthn } = dependencies
  return [
    route({
      ...access,
      path: '/console/session/passkey_options',
      summary: 'Begin a sign-in by a passkey',
      responses: { 200: requestOptionsSchema },
      handler: async ({ headers, address }) => {
        await admitSignInOptions(dependencies, headers, address)
        return webAuthn.toAuthenticationOptions(SIGN_IN_PURPOSE)
      },
    }),
    route({
      ...access,
      path: '/console/session/passkey',
      summary: 'Sign in by a passkey',
      description: 'Sets the cookie of the session.',
      body: z.object({ credential: assertionSchema }),
      example: { body: { credential: ASSERTION } },
      responses: { 200: consoleSessionSchema },
      handler: async ({ body, headers, address, requestId }) => {
        await admitSignIn(dependencies, headers, address)
        const browser = toBrowser(site, headers, address)
        const { credential } = body
        const token = await signInByPasskey(dependencies, { credential, requestId, browser })
        return answerSession(dependencies, token)
      },
    }),
  ]
}

function stepUpRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session', method: 'POST' } as const
  const { db, webAuthn } = dependencies
  return [
    route({
      ...access,
      path: '/console/session/step_up_options',
      summary: 'Begin a step-up',
      responses: {
        200: z.object({
          passkey: requestOptionsSchema.nullable().describe('Null for an admin without a passkey.'),
          code: z
            .boolean()
            .describe('Whether a code of an authenticator app does as well: `step_up_code`.'),
        }),
      },
      handler: async ({ headers }) => {
        const { session } = await readOwnSession(dependencies, headers)
        const passkeys = await listPasskeys(db, session.adminId)
        const options = () => webAuthn.toAuthenticationOptions(stepUpPurpose(session), passkeys)
        const password = await findPassword(db, session.adminId)
        return {
          passkey: passkeys.length === 0 ? null : await options(),
          code: password !== undefined,
        }
      },
    }),
    route({
      ...access,
      path: '/console/session/step_up',
      summary: 'Step the session up',
      description:
        'Proves that the admin is there. For five minutes, what asks for it is open then. The session gets a new cookie.',
      body: z.object({ credential: assertionSchema }),
      example: { body: { credential: ASSERTION } },
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { body, headers } = context
        const { session } = await readOwnSession(dependencies, headers)
        await admitStepUp(dependencies, session.id)
        const origin = toOrigin(context)
        return answerSession(
          dependencies,
          await stepUpByPasskey(dependencies, session, body.credential, origin),
        )
      },
    }),
  ]
}

function ownPasskeyRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session' } as const
  const { db, runChange } = dependencies
  return [
    route({
      ...access,
      method: 'GET',
      path: '/console/session/passkeys',
      summary: 'List the own passkeys',
      responses: { 200: z.object({ data: z.array(passkeySchema) }) },
      handler: async ({ principal }) => ({
        data: (await listPasskeys(db, principal.id)).map(toPasskeyJson),
      }),
    }),
    route({
      ...access,
      method: 'DELETE',
      path: '/console/session/passkeys/:id',
      stepUp: true,
      summary: 'Remove an own passkey',
      description: 'The last way to sign in cannot be removed: 409.',
      responses: { 200: passkeySchema },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        const id = parseId(context.params.id, 'passkey')
        return toPasskeyJson(
          await runChange(toOrigin(context), (change) => removePasskey(change, session.admin, id)),
        )
      },
    }),
  ]
}

function newPasskeyRoutes(dependencies: SignInDependencies): ApiRoute[] {
  const access = { tags: SESSION_TAGS, permission: 'session' } as const
  const { db, runChange, webAuthn } = dependencies
  return [
    route({
      ...access,
      method: 'POST',
      path: '/console/session/passkeys/options',
      summary: 'Begin to add a passkey',
      description: 'Asks for a step-up, but right after a one-time link.',
      responses: { 200: creationOptionsSchema },
      handler: async ({ headers }) => {
        const { session } = await readOwnSession(dependencies, headers)
        if (!session.isSetupPending) assertSteppedUp(session)
        const admin = await findAdminById(db, session.adminId)
        if (admin === undefined) throw notFound('admin', session.adminId)
        const present = await listPasskeys(db, admin.id)
        return webAuthn.toRegistrationOptions(registrationPurpose(session), admin, present)
      },
    }),
    route({
      ...access,
      method: 'POST',
      path: '/console/session/passkeys',
      summary: 'Add a passkey',
      description:
        'Asks for a step-up, but right after a one-time link: the session then opens everything that the admin may do. It gets a new cookie.',
      body: z.object({ name: z.string().max(200), credential: attestationSchema }),
      example: { body: { name: 'Laptop', credential: ATTESTATION } },
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { body, headers } = context
        const { session } = await readOwnSession(dependencies, headers)
        if (!session.isSetupPending) assertSteppedUp(session)
        const proven = await webAuthn.verifyRegistration(
          registrationPurpose(session),
          body.credential,
        )
        const token = await runChange(toOrigin(context), async (change) => {
          await addPasskey(change, session.admin, proven, body.name)
          // Whoever has come in by another link must not add one as well.
          await endSetUps(change, { adminId: session.adminId, exceptId: session.id })
          return renewSession(change, session)
        })
        return answerSession(dependencies, token)
      },
    }),
  ]
}

function toPasskeyJson({ id, name, isBackedUp, createdAt, lastUsedAt }: Passkey) {
  return {
    id,
    name,
    is_backed_up: isBackedUp,
    created_at: toTimestamp(createdAt),
    last_used_at: toTimestamp(lastUsedAt),
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
