// The receiving end of push delivery (RFC 8935) as a fetch-style handler; routing, TLS and the
// listening socket belong to the application.
import { SET_MEDIA_TYPE, type SetError } from '@heliograph/ssf'
import { decodeUtf8, readCappedBody } from './capped-body.ts'
import { isAnyTextEqual } from './constant-time.ts'
import { SetVerificationError } from './errors.ts'
import { createEventIntake, type EventIntakeOptions, type IntakeOutcome } from './event-intake.ts'
import { requireAmounts } from './require-amounts.ts'
import { tellListener } from './tell-listener.ts'

/** What a push handler needs. */
export interface PushHandlerOptions extends EventIntakeOptions {
  /**
   * The Authorization header that the transmitter must send, exactly; several while it is being
   * changed. Without it every sender may push, and the signature alone protects.
   */
  readonly authorization?: string | readonly string[] | undefined
  /** Largest accepted body, in bytes. Default 262144. */
  readonly bodyBytesMax?: number
  /**
   * Told of every SET that was not handled, and of bodies that are none or break off; for logs. What it throws is
   * ignored. Requests that are no push for this receiver (401, 405, 413, 415) are not told of.
   */
  readonly onRefused?: (outcome: RefusedOutcome) => unknown
}

/** An outcome that is not a success. */
export type RefusedOutcome = Exclude<
  IntakeOutcome,
  { readonly kind: 'handled' } | { readonly kind: 'duplicate' }
>

/** Answers one request. */
export type PushHandler = (request: Request) => Promise<Response>

const BODY_BYTES_MAX = 256 * 1024

/**
 * Creates a push handler. It answers 202 with an empty body after `onEvent` has finished, so that a
 * SET is handled at least once; 400 with `err` and `description` for a SET that is refused; 503
 * when the keys cannot be had and 500 when `onEvent` fails, so that the transmitter tries again;
 * 401, 405, 413 and 415 for requests that are no push for this receiver. RFC 8935 sections 2.2
 * and 2.3.
 *
 * @throws TypeError when `authorization` is empty or holds an empty value, or `bodyBytesMax` is none.
 */
export function createPushHandler(options: PushHandlerOptions): PushHandler {
  const intake = createEventIntake(options)
  const { bodyBytesMax = BODY_BYTES_MAX } = options
  requireAmounts({ bodyBytesMax })
  const authorization = readAuthorization(options.authorization)

  async function take(bytes: Uint8Array<ArrayBuffer>): Promise<IntakeOutcome> {
    const token = decodeUtf8(bytes)?.trim()
    if (token !== undefined) return intake(token)
    return refused(new SetVerificationError('invalid_request', 'the body is not text'))
  }

  return async (request) => {
    const refusal = await refuseRequest(request, authorization)
    if (refusal !== undefined) return refusal
    const declared = Number(request.headers.get('content-length') ?? 0)
    const bytes = declared > bodyBytesMax ? undefined : await readBody(request.body, bodyBytesMax)
    if (bytes === undefined) return emptyResponse(413)
    const outcome = bytes instanceof SetVerificationError ? refused(bytes) : await take(bytes)
    if (outcome.kind !== 'handled' && outcome.kind !== 'duplicate') {
      tellListener(options.onRefused, outcome)
    }
    return toResponse(outcome)
  }
}

function refused(error: SetVerificationError): IntakeOutcome {
  return { kind: 'refused', error }
}

/** An empty value, of a variable that is not set perhaps, would let in whoever sends no header. */
function readAuthorization(
  authorization: PushHandlerOptions['authorization'],
): readonly string[] | undefined {
  if (authorization === undefined) return undefined
  const accepted = typeof authorization === 'string' ? [authorization] : authorization
  if (accepted.length > 0 && accepted.every((value) => value.trim() !== '')) return accepted
  throw new TypeError('authorization must not be empty')
}

async function refuseRequest(
  request: Request,
  accepted: readonly string[] | undefined,
): Promise<Response | undefined> {
  if (request.method !== 'POST') return emptyResponse(405, { allow: 'POST' })
  if (accepted !== undefined) {
    const sent = request.headers.get('authorization')
    if (!(await isAnyTextEqual(sent ?? '', accepted))) {
      return emptyResponse(401, {
        'www-authenticate': sent === null ? 'Bearer' : 'Bearer error="invalid_token"',
      })
    }
  }
  const mediaType = (request.headers.get('content-type') ?? '').split(';')[0] ?? ''
  return mediaType.trim().toLowerCase() === SET_MEDIA_TYPE ? undefined : emptyResponse(415)
}

/** A body that breaks off is refused: most likely nobody is there to read the answer. */
async function readBody(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | SetVerificationError | undefined> {
  try {
    return await readCappedBody(body, bytesMax)
  } catch (cause) {
    return new SetVerificationError('invalid_request', 'the body could not be read', { cause })
  }
}

function toResponse(outcome: IntakeOutcome): Response {
  switch (outcome.kind) {
    case 'handled':
    case 'duplicate':
      return emptyResponse(202)
    case 'refused':
      return errorResponse({ err: outcome.error.err, description: outcome.error.message })
    case 'keys_unavailable':
      return emptyResponse(503, { 'retry-after': '30' })
    case 'handler_failed':
      return emptyResponse(500)
  }
}

function errorResponse(error: SetError): Response {
  return new Response(JSON.stringify(error), {
    status: 400,
    headers: {
      'content-type': 'application/json',
      'content-language': 'en',
      'cache-control': 'no-store',
    },
  })
}

function emptyResponse(status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } })
}
