/*
 * Sign-ins that come from Entra as an external authentication method: the request becomes an attempt whose person Entra
 * has proven, and what the attempt comes to goes back as a form. The issuer is one of its own.
 * "External method provider reference", learn.microsoft.com.
 */
import { importJWK, SignJWT } from 'jose'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError, conflict } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS, toEpochSeconds } from '../../platform/clock.ts'
import type { AttemptInteraction } from '../../schema/tables/sign-in-tables.ts'
import {
  findEnabledApplication,
  type SignInApplication,
} from '../applications/application-store.ts'
import type { RefusedField } from '../applications/requests/explain-refusal.ts'
import type { RefusalRecorder } from '../applications/requests/refusal-recorder.ts'
import { writeAttemptCookie, type HeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { updateAttemptReturned } from '../attempts/attempt-store.ts'
import { beginAttempt } from '../attempts/begin-attempt.ts'
import { identifyByHint } from '../attempts/identify-by-hint.ts'
import type { AskingBrowser, Redirection } from '../provider/interactions.ts'
import type { SignInKeys } from '../provider/sign-in-keys.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'
import type { EntraClouds } from './entra-clouds.ts'
import { ENTRA_ACR, readEntraRequest, type EntraRequest } from './read-entra-request.ts'
import { EntraHintError, type EntraPerson, type VerifyEntraHint } from './verify-entra-hint.ts'
import type { FormBody } from '../pages/kit/form-body.ts'

export interface EntraDependencies extends Pick<Foundation, 'db' | 'runChange' | 'clock' | 'log'> {
  readonly baseUrl: string
  readonly clouds: EntraClouds
  readonly verifyHint: VerifyEntraHint
  readonly keys: SignInKeys
  readonly refusals: Pick<RefusalRecorder, 'noteField'>
}

const TOKEN_SECONDS = (5 * MINUTE_MS) / SECOND_MS

/**
 * Begins an attempt for a request of Entra.
 *
 * @throws AppError `invalid_parameter` for whatever does not fit, without saying more: nothing is sent to an address
 *   that was not checked
 */
export async function beginFromEntra(
  dependencies: EntraDependencies,
  form: FormBody,
  browser: AskingBrowser,
): Promise<Redirection> {
  const { db, runChange, baseUrl, log } = dependencies
  const request = readEntraRequest(form)
  const { clientId } = request
  const refuse = refuserOf(dependencies, clientId)
  if ('wrong' in request) throw refuse('entra_request', request.wrong)
  const application = await findEnabledApplication(db, { clientId, kind: 'entra' })
  if (application === undefined) throw refuse('client_id', clientId)
  const person = await prove(dependencies, application, request)
  log.info({ entraRequestId: request.clientRequestId }, 'a sign-in came from Entra')
  const interaction: AttemptInteraction = {
    kind: 'entra',
    redirectUri: request.redirectUri,
    state: request.state,
    nonce: request.nonce,
    subject: person.subject,
    amr: request.amr,
  }
  const begun = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    beginAttempt(change, {
      ...browser,
      applicationId: application.id,
      interaction,
      loginHint: person.username,
    }),
  )
  const hint = {
    loginHint: person.username,
    isProven: true,
    personId: undefined,
    account: person,
  }
  await identifyByHint(dependencies, begun.attempt.id, hint)
  return {
    to: `${baseUrl}/sign-in/attempts/${begun.attempt.id}`,
    cookies: [writeAttemptCookie(begun.attempt.id, begun.secret, baseUrl)],
  }
}

async function prove(
  dependencies: EntraDependencies,
  { entraCloud, entraTenantId, entraAppId }: SignInApplication,
  { clientId, redirectUri, hint, clientRequestId }: EntraRequest,
): Promise<EntraPerson> {
  const { clouds, verifyHint, log } = dependencies
  const refuse = refuserOf(dependencies, clientId)
  const cloud = entraCloud === null ? undefined : clouds[entraCloud]
  if (cloud === undefined || entraTenantId === null || entraAppId === null) {
    throw refuse('client_id', clientId)
  }
  if (redirectUri !== cloud.redirectUri) throw refuse('cloud', redirectUri)
  try {
    const { authority } = cloud
    return await verifyHint(hint, { authority, tenantId: entraTenantId, appId: entraAppId })
  } catch (error) {
    if (!(error instanceof EntraHintError)) throw error
    log.warn({ err: error, entraRequestId: clientRequestId }, 'a hint of Entra was refused')
    throw refuse(error.refusal.field, error.refusal.given)
  }
}

/** Makes the errors of refused requests; admins are told what was wrong, whoever sent them is not. */
function refuserOf({ refusals }: Pick<EntraDependencies, 'refusals'>, clientId: string) {
  return (field: RefusedField, given: string | null): AppError => {
    // What names no application is of nobody.
    if (clientId !== '') {
      const code = 'invalid_parameter'
      refusals.noteField({ clientId, endpoint: 'entra_authorization', code, field, given })
    }
    return new AppError(
      'invalid_parameter',
      'This is not a request of Entra for an application that is set up here.',
    )
  }
}

/** The form that takes an answer to Entra. */
export interface EntraAnswer {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/**
 * What an attempt came to, for Entra: once.
 *
 * @throws AppError `conflict` for an attempt under way, or told before
 */
export async function answerEntra(
  dependencies: EntraDependencies,
  { attempt }: Pick<HeldAttempt, 'attempt'>,
): Promise<EntraAnswer> {
  const { db, runChange, clock } = dependencies
  const { interaction, applicationId } = attempt
  if (interaction.kind !== 'entra') throw conflict('This sign-in does not come from Entra.')
  const isFirst = await runChange({ actor: SYSTEM_ACTOR }, async ({ tx, at }) =>
    updateAttemptReturned(tx, attempt.id, at),
  )
  if (!isFirst) throw conflict('This sign-in is under way, or was ended before.')
  const state = interaction.state === null ? {} : { state: interaction.state }
  const granted = await findGrantedSession(db, { attemptId: attempt.id })
  const isLive = granted?.endedAt === null && granted.expiresAt > clock.now()
  const session = isLive ? granted : undefined
  const application = await findEnabledApplication(db, { id: applicationId ?? '0', kind: 'entra' })
  const method =
    session === undefined ? undefined : chooseMethod(session.assurance, interaction.amr)
  if (attempt.stage !== 'done' || application === undefined || method === undefined) {
    return { action: interaction.redirectUri, fields: { error: 'access_denied', ...state } }
  }
  const token = await sign(dependencies, {
    aud: application.clientId,
    sub: interaction.subject,
    nonce: interaction.nonce,
    acr: ENTRA_ACR,
    amr: [method],
  })
  return { action: interaction.redirectUri, fields: { id_token: token, ...state } }
}

/** Methods that are a possession, the strongest first, by how the device was known. RFC 8176. */
const METHODS = {
  hardware: ['hwk', 'pop', 'swk'],
  live: ['pop', 'swk'],
  approved: ['swk'],
  key: ['swk'],
  // Whoever breaks the glass has shown no possession: Entra's own break-glass accounts are for that.
  none: [],
} as const

function chooseMethod(
  assurance: keyof typeof METHODS,
  wanted: readonly string[],
): string | undefined {
  return METHODS[assurance].find((method) => wanted.includes(method))
}

async function sign(
  { baseUrl, keys, clock }: EntraDependencies,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const [key] = await keys.current()
  if (key === undefined) throw new Error('there is no key that signs ID tokens')
  const now = toEpochSeconds(clock.now())
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid })
    .setIssuer(entraIssuer(baseUrl))
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .sign(await importJWK(key, 'RS256'))
}

/** The issuer of answers to Entra. */
export function entraIssuer(baseUrl: string): string {
  return `${baseUrl}/sign-in/entra`
}
