/*
 * How the console calls the API: same origin, the session's cookie, and a header that pages of other origins
 * cannot send. A refusal that asks for a step-up is answered by asking the admin, and the request is sent again.
 */
import { isUnattended } from './attendance.ts'
import { client } from './generated/client.gen.ts'

/** What the API says when it refuses. */
export class ApiError extends Error {
  readonly status: number
  /** The stable code of `docs/errors.md`; `unreachable` when no answer came. */
  readonly code: string
  /** What is wrong with the input, by the path of the member. */
  readonly fields: Readonly<Record<string, string>>
  readonly requestId: string | undefined

  constructor(
    message: string,
    facts: {
      status: number
      code: string
      fields?: Readonly<Record<string, string>>
      requestId?: string | undefined
    },
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = facts.status
    this.code = facts.code
    this.fields = facts.fields ?? {}
    this.requestId = facts.requestId
  }
}

/** What is wrong with single inputs, by their paths; null where the service names none. */
export function fieldFaultsOf(error: Error | null): ApiError['fields'] | null {
  if (!(error instanceof ApiError)) return null
  return Object.keys(error.fields).length === 0 ? null : error.fields
}

/** What the shell does when requests meet the limits of the session. */
export interface SessionEvents {
  /** Resolves with true when the admin has proven themselves again. */
  stepUp: () => Promise<boolean>
  /** The session is over. */
  ended: () => void
}

let events: SessionEvents = { stepUp: async () => false, ended: () => undefined }

/** Says who answers for the session. */
export function listenToSession(listener: SessionEvents): void {
  events = listener
}

interface ErrorBody {
  readonly code?: unknown
  readonly message?: unknown
  readonly error?: unknown
  readonly details?: unknown
}

/** Refusals with 401 that say nothing of the session: a feature that is switched off, and a proof that was not taken. */
const LEAVES_SESSION = ['feature_disabled', 'sign_in_failed']

/** Says that nobody has asked for it: no use of the session. */
const UNATTENDED_HEADER = 'X-Heliograph-Unattended'

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const again = request.clone()
  if (request.method === 'GET' && isUnattended()) request.headers.set(UNATTENDED_HEADER, '1')
  const response = await fetchOrExplain(request)
  if (response.ok) return response
  const error = await toError(response)
  if (error.code === 'step_up_required' && (await events.stepUp())) {
    const second = await fetchOrExplain(again)
    if (second.ok) return second
    throw await toError(second)
  }
  if (response.status === 401 && !LEAVES_SESSION.includes(error.code)) events.ended()
  throw error
}

async function fetchOrExplain(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch (cause) {
    if (request.signal.aborted) throw cause
    const isTriedAgain = request.method === 'GET'
    const told = isTriedAgain ? ' It is tried again.' : ' Whether it has done this is not known.'
    throw new ApiError(`The service cannot be reached.${told}`, {
      status: 0,
      code: 'unreachable',
    })
  }
}

async function toError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const text = [body.message, body.error].find((value) => typeof value === 'string')
  return new ApiError(text ?? `The service answered ${response.status}.`, {
    status: response.status,
    code: typeof body.code === 'string' ? body.code : 'unknown',
    fields: toFields(body.details),
    requestId: response.headers.get('request-id') ?? undefined,
  })
}

function toFields(details: unknown): Record<string, string> {
  if (!Array.isArray(details)) return {}
  return Object.fromEntries(
    details.flatMap((entry: { readonly path?: unknown; readonly message?: unknown }) =>
      typeof entry.path === 'string' && typeof entry.message === 'string'
        ? [[entry.path, entry.message]]
        : [],
    ),
  )
}

client.setConfig({
  baseUrl: '',
  fetch: send,
  headers: { 'X-Heliograph-Console': '1' },
  throwOnError: true,
})

export { client }
