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
  /** The session opens nothing because of its device. */
  deviceRefused: () => void
}

let events: SessionEvents = {
  stepUp: async () => false,
  ended: () => undefined,
  deviceRefused: () => undefined,
}

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

/**
 * Refusals with 401 that say nothing of the session: a feature that is switched off, and a proof that was not taken.
 */
const LEAVES_SESSION = ['feature_disabled', 'sign_in_failed']

/** Says that nobody has asked for it: no use of the session. */
const UNATTENDED_HEADER = 'X-Heliograph-Unattended'

/** Held, in all windows of the browser, while a request gives the session another token. */
const TOKEN_LOCK = 'heliograph session token'

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  if (request.method === 'GET' && isUnattended()) request.headers.set(UNATTENDED_HEADER, '1')
  const again = request.clone()
  const response = await fetchOrExplain(request)
  if (response.ok) return response
  const error = await toError(response)
  if (!(await isSentAgain(error))) throw tell(error)
  const second = await fetchOrExplain(again)
  if (second.ok) return second
  throw tell(await toError(second))
}

/**
 * Sends a request whose answer brings another token of the session, after which the one before opens nothing. Use it as
 * `fetch` of the request.
 */
export async function sendForToken(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  return navigator.locks.request(TOKEN_LOCK, async () => {
    const response = await fetchOrExplain(new Request(input, init))
    if (!response.ok) throw tell(await toError(response))
    return response
  })
}

/** Whether a refused request may succeed: once the admin is proven, or with the token that the session has now. */
async function isSentAgain({ code }: ApiError): Promise<boolean> {
  if (code === 'step_up_required') return events.stepUp()
  if (code !== 'unauthenticated') return false
  await navigator.locks.request(TOKEN_LOCK, { mode: 'shared' }, () => undefined)
  return true
}

/** Says what an error means for the session, and answers it. */
function tell(error: ApiError): ApiError {
  if (error.code === 'trusted_device_required') events.deviceRefused()
  if (error.status === 401 && !LEAVES_SESSION.includes(error.code)) events.ended()
  return error
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
