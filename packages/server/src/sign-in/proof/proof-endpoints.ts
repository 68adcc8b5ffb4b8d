/*
 * The requests by which the page of a sign-in proves its device: one shows the key of the browser, one leases the
 * ports, and one, when the browser has opened them, decides. Owns nothing of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ChangeOrigin } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { notFound } from '../../platform/app-error.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { isFromBrowserOf } from '../attempts/attempt-cookie-input.ts'
import { findAttempt, type Attempt } from '../attempts/attempt-store.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import {
  assertOwnForm,
  FORM_BYTES_MAX,
  FORM_MEDIA_TYPE,
  parseFormBody,
} from '../pages/kit/form-body.ts'
import { runAsSignIns } from '../pages/page-surface.ts'
import { parseNewKey, parseShownKey } from '../browser-keys/browser-key-input.ts'
import { findKeyOfAttempt } from '../browser-keys/browser-key-store.ts'
import { showBrowserKey } from '../browser-keys/show-browser-key.ts'
import { listCandidates } from './candidate-read.ts'
import { PROBE_PREFIX, toProofCookie, writeProofCookie } from './probe-request-input.ts'
import { proveDevice, type ProofContext } from './prove-device.ts'
import { startProof } from './start-proof.ts'

/** What the requests work with. */
export interface ProofEndpointsContext extends ProofContext {
  /** None where the service opens no ports: then no device is proven live. */
  readonly ports: readonly number[]
  /** Has devices ask for work sooner. */
  readonly hurry: (deviceIds: readonly string[], untilMs: number) => void
  /** This process knows of the leases that were made here. */
  readonly refreshLeases: () => Promise<void>
  /** Ends proofs under way when the service stops. */
  readonly stopping: AbortSignal
}

const PROOF_PATH = '/sign-in/attempts/:id/proof'
const COOKIE_SECONDS = 120
/** How long devices of somebody who signs in are asked more often. */
const HURRY_MS = 2 * MINUTE_MS

/** Adds the requests to the HTTP server. */
export function mountProof(http: FastifyInstance, context: ProofEndpointsContext): void {
  void http.register(async (scope) => {
    runAsSignIns(scope)
    scope.addContentTypeParser(
      FORM_MEDIA_TYPE,
      { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
      async (_request: FastifyRequest, body: string) => parseFormBody(body),
    )
    mountStart(scope, context)
    mountResult(scope, context)
    mountKey(scope, context)
  })
}

function mountStart(http: FastifyInstance, context: ProofEndpointsContext): void {
  http.post(PROOF_PATH, async (request, reply) => {
    const attempt = await getOwnAttempt(context, request)
    noStore(reply)
    // A form of the page: the browser runs no scripts.
    if (request.body instanceof Map) {
      await giveUp(context, request, attempt)
      return reply.redirect(`/sign-in/attempts/${attempt.id}`, 303)
    }
    if (context.ports.length === 0) return giveUp(context, request, attempt)
    const { ports, token, cookie, leasedUntil } = await context.runChange(
      toOrigin(request),
      (change) => startProof(change, attempt.id, context.ports),
    )
    await context.refreshLeases()
    await hurryCandidates(context, attempt)
    const proofCookie = toProofCookie(attempt.id, context.baseUrl)
    void reply.header('set-cookie', writeProofCookie(proofCookie, cookie, COOKIE_SECONDS))
    return { ports, path: `${PROBE_PREFIX}${token}`, leased_until: leasedUntil.toISOString() }
  })
}

function mountResult(http: FastifyInstance, context: ProofEndpointsContext): void {
  http.post(`${PROOF_PATH}/result`, async (request, reply) => {
    const attempt = await getOwnAttempt(context, request)
    noStore(reply)
    const { attempt: proven, boundKeyId } = await proveDevice(context, attempt.id, {
      origin: toOrigin(request),
      signal: context.stopping,
      newKey: parseNewKey(request.body),
    })
    return { stage: proven.stage, browser_key: boundKeyId ?? null }
  })
}

/** The browser shows the key that it holds; before the proof, which then knows whom to ask first. */
function mountKey(http: FastifyInstance, context: ProofEndpointsContext): void {
  http.post('/sign-in/attempts/:id/browser-key', async (request, reply) => {
    const { id } = await getOwnAttempt(context, request)
    noStore(reply)
    const shown = parseShownKey(request.body)
    const outcome = await context.runChange(toOrigin(request), (change) =>
      showBrowserKey(change, id, shown, context.baseUrl),
    )
    return { outcome }
  })
}

async function getOwnAttempt(
  { db, baseUrl }: ProofEndpointsContext,
  request: FastifyRequest,
): Promise<Attempt> {
  assertOwnForm(request.headers, baseUrl)
  const { id } = request.params as { readonly id: string }
  const attempt = await findAttempt(db, id)
  if (attempt !== undefined && isFromBrowserOf(attempt, request.headers, baseUrl)) return attempt
  throw notFound('sign-in', id)
}

async function giveUp(
  { runChange }: ProofEndpointsContext,
  request: FastifyRequest,
  { id }: Attempt,
) {
  const { stage } = await runChange(toOrigin(request), (change) =>
    deviceNotProven(change, id, { reason: 'unavailable', evidence: { probe_ports: 'off' } }),
  )
  return { ports: [], stage }
}

async function hurryCandidates(context: ProofEndpointsContext, attempt: Attempt): Promise<void> {
  const { db, clock, hurry } = context
  const { personId, ipAddress } = attempt
  if (personId === null) return
  const deviceId = (await findKeyOfAttempt(db, attempt.id))?.deviceId ?? null
  const at = clock.now()
  const candidates = await listCandidates(db, { personId, ipAddress, deviceId, at })
  hurry(
    candidates.map(({ id }) => id),
    at.getTime() + HURRY_MS,
  )
}

function toOrigin(request: FastifyRequest): ChangeOrigin {
  return { actor: SYSTEM_ACTOR, requestId: request.id, ipAddress: request.ip }
}

function noStore(reply: FastifyReply): void {
  void reply.header('cache-control', 'no-store')
}
