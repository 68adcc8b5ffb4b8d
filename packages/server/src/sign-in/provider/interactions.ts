/*
 * Interactions of the OpenID provider: each becomes an attempt, and what an attempt came to ends it. Owns that an
 * outcome is told once, to the browser that began the attempt, and for the interaction that it began for.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { decodeJwt } from 'jose'
import type { Provider } from 'oidc-provider'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { findEnabledApplication } from '../applications/application-store.ts'
import { writeAttemptCookie, type HeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { updateAttemptReturned } from '../attempts/attempt-store.ts'
import { beginAttempt } from '../attempts/begin-attempt.ts'
import { identifyByHint } from '../attempts/identify-by-hint.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'
import { beginUpstream, type UpstreamSignInDependencies } from '../upstreams/upstream-sign-in.ts'
import { readEssentialClaims } from './essential-claims.ts'
import { ACR_OF, toAmr } from './session-claims.ts'
import type { DeviceResult } from './sign-in-provider.ts'

export interface InteractionDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  readonly baseUrl: string
  readonly upstream: UpstreamSignInDependencies
}

/** The browser that asks. */
export interface AskingBrowser {
  readonly ipAddress: string
  readonly userAgent: string | null
  readonly language: string
}

/** Where the browser goes, and with which cookie. */
export interface Redirection {
  readonly to: string
  readonly cookies: readonly string[]
}

/** A request that the library answers in the end. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Called when nobody else answers any more. */
  readonly takeOver: () => void
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const HINT_LENGTH_MAX = 254

/**
 * Begins an attempt for an interaction.
 *
 * @throws AppError `not_found` for an interaction that is over or of another browser; `rate_limited`
 */
export async function beginInteraction(
  dependencies: InteractionDependencies,
  interaction: Interaction,
  browser: AskingBrowser,
  headers: IncomingHttpHeaders,
): Promise<Redirection | 'unmet'> {
  const { db, runChange, baseUrl, upstream } = dependencies
  // Asked again after a device was proven: what is asked for cannot be met.
  if ((interaction.lastSubmission as { device?: DeviceResult } | undefined)?.device) return 'unmet'
  const { params, uid } = interaction
  const clientId = textOf(params['client_id'])
  const application = await findEnabledApplication(db, { clientId: clientId ?? '', kind: 'oidc' })
  if (application === undefined) throw notFound('application', clientId ?? '')
  const loginHint = textOf(params['login_hint'])
  const personId = subjectOf(params['id_token_hint'])
  const essential = readEssentialClaims(params['claims'], personId)
  const begun = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    beginAttempt(change, {
      ...browser,
      applicationId: application.id,
      interaction: { kind: 'oidc', uid, ...(essential && { essential }) },
      loginHint: loginHint ?? null,
      language: languageOf(params['ui_locales']) ?? browser.language,
    }),
  )
  const cookies = [writeAttemptCookie(begun.attempt.id, begun.secret, baseUrl)]
  const own = `${baseUrl}/sign-in/attempts/${begun.attempt.id}`
  const isNamed = loginHint !== undefined || personId !== undefined
  const isByUpstream =
    application.mode === 'broker' || (!isNamed && application.upstreamProviderId !== null)
  if (isByUpstream) {
    return { to: (await beginUpstream(upstream, begun, application, headers)) ?? own, cookies }
  }
  const isProven = (interaction.trusted ?? []).includes('login_hint')
  await identifyByHint(dependencies, begun.attempt.id, { loginHint, personId, isProven })
  return { to: own, cookies }
}

/**
 * Ends an interaction with what its attempt came to, and sends the browser on.
 *
 * @throws AppError `conflict` for an attempt under way, told before, or of another interaction
 */
export async function endInteraction(
  { db, runChange }: InteractionDependencies,
  provider: Provider,
  { attempt }: Pick<HeldAttempt, 'attempt'>,
  { request, response, takeOver }: Exchange,
): Promise<void> {
  const interaction = await openInteraction(provider, request, response)
  const wanted = attempt.interaction
  if (wanted.kind !== 'oidc' || wanted.uid !== interaction.uid) {
    throw new AppError('conflict', 'This sign-in belongs to another request.')
  }
  const isFirst = await runChange({ actor: SYSTEM_ACTOR }, async ({ tx, at }) =>
    updateAttemptReturned(tx, attempt.id, at),
  )
  if (!isFirst) throw new AppError('conflict', 'This sign-in is under way, or was ended before.')
  const session = await findGrantedSession(db, { attemptId: attempt.id })
  takeOver()
  // It may have ended since it was granted, with its device or person.
  if (attempt.stage !== 'done' || session?.endedAt !== null) {
    const isOver = attempt.stage === 'done' && session !== undefined
    const description = isOver ? 'session_ended' : (attempt.refusalCode ?? attempt.stage)
    await provider.interactionFinished(request, response, {
      error: 'access_denied',
      error_description: description,
    })
    return
  }
  await provider.interactionFinished(
    request,
    response,
    {
      login: {
        accountId: session.personId,
        acr: ACR_OF[session.assurance],
        amr: toAmr(attempt.amr, session.assurance),
        remember: false,
      },
      device: { sessionId: session.id, sid: session.sid },
    },
    { mergeWithLastSubmission: false },
  )
}

/** The interaction of a request. @throws AppError `not_found` when it is over, or of another browser */
export async function openInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction> {
  try {
    return await provider.interactionDetails(request, response)
  } catch (error) {
    if ((error as { readonly error?: unknown }).error === undefined) throw error
    throw new AppError(
      'not_found',
      'This sign-in has ended, or another browser has begun it. Begin again where you came from.',
      { cause: error },
    )
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > HINT_LENGTH_MAX) return undefined
  return value.includes('\0') ? undefined : value
}

/** Of an ID token that the provider has verified before the interaction. */
function subjectOf(hint: unknown): string | undefined {
  return typeof hint === 'string' ? decodeJwt(hint).sub : undefined
}

function languageOf(locales: unknown): string | undefined {
  const [first] = typeof locales === 'string' ? locales.split(' ') : []
  return first !== undefined && /^[a-z]{2}/i.test(first)
    ? first.slice(0, 2).toLowerCase()
    : undefined
}
