/*
 * The application of the demo over HTTP, on a loopback address: its page, the way to the sign-in and back, and the
 * switches of the simulated Mac. What a browser was told is kept in memory.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { SECOND_MS } from '../../../platform/clock.ts'
import { newSecret } from '../../../platform/ids.ts'
import { readSessionCookie, writeSessionCookie } from '../../../platform/http/session-cookie.ts'
import type { VisitorDevice } from '../visitor-device.ts'
import type { TrialCredentials } from './create-trial-application.ts'
import { createRelyingParty, type BegunSignIn, type RelyingParty } from './relying-party.ts'
import { renderTrial, TRIAL_PATHS, type SignInResult } from './try-sign-in-page.ts'
import { TRIAL_STYLE } from './try-sign-in-style.ts'

export interface TrialOptions {
  /** Listens on the port already, and is closed by whoever made it. */
  readonly server: Server
  readonly port: number
  /** Of the service, which must be running. */
  readonly baseUrl: string
  readonly credentials: TrialCredentials
  readonly visitor: VisitorDevice
}

/** What is known of a browser. */
interface Visit {
  result: SignInResult
  /** The sign-in that its next answer belongs to. */
  begun: BegunSignIn | undefined
}

interface Answer {
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const HOST = '127.0.0.1'
const COOKIE = { name: 'heliograph-demo', isSecure: false } as const
const COOKIE_SECONDS = 86_400
const READY_MS = 30 * SECOND_MS
const VISITS_MAX = 100
const FORM_BYTES_MAX = 1_000
const NO_RESULT: SignInResult = { kind: 'none' }

/** Where the application takes the answers of the service. */
export function toRedirectUri(port: number): string {
  return `${toOrigin(port)}${TRIAL_PATHS.callback}`
}

/** Answers for the application until it is started. */
export function answerNotYet(_request: IncomingMessage, response: ServerResponse): void {
  send(response, {
    status: 503,
    body: 'The demo is still starting. Try again in a moment.',
    headers: { 'retry-after': '2' },
  })
}

/** Serves the application on a loopback address, and answers where its page is. */
export async function startTrial(options: TrialOptions): Promise<string> {
  const { server, port, baseUrl, credentials, visitor } = options
  const origin = toOrigin(port)
  const relyingParty = await createRelyingParty({
    ...credentials,
    issuer: `${baseUrl}/sign-in`,
    redirectUri: toRedirectUri(port),
  })
  const answer = createAnswerer(origin, visitor, relyingParty)
  server.removeListener('request', answerNotYet)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request).then(
      (found) => send(response, found),
      () => send(response, { status: 502, body: 'The service could not be asked.' }),
    )
  })
  return `${origin}${TRIAL_PATHS.page}`
}

/** Makes what answers requests; what it knows of browsers is its own. */
function createAnswerer(origin: string, visitor: VisitorDevice, relyingParty: RelyingParty) {
  const visits = new Map<string, Visit>()

  function visitOf(request: IncomingMessage): [id: string, visit: Visit] {
    const known = readSessionCookie(request.headers, COOKIE)
    const visit = known === undefined ? undefined : visits.get(known)
    if (known !== undefined && visit !== undefined) return [known, visit]
    const [oldest] = visits.keys()
    if (visits.size >= VISITS_MAX && oldest !== undefined) visits.delete(oldest)
    const id = newSecret()
    const made: Visit = { result: NO_RESULT, begun: undefined }
    visits.set(id, made)
    return [id, made]
  }

  async function signIn(request: IncomingMessage): Promise<Answer> {
    const [id, visit] = visitOf(request)
    // Who comes right after the start would find no device.
    await visitor.untilReported(READY_MS)
    visit.begun = await relyingParty.begin(visitor.owner.email)
    const cookie = writeSessionCookie(COOKIE, id, COOKIE_SECONDS)
    return { status: 302, headers: { location: visit.begun.url, 'set-cookie': cookie } }
  }

  async function takeAnswer(request: IncomingMessage): Promise<Answer> {
    const [, visit] = visitOf(request)
    const { begun } = visit
    visit.begun = undefined
    if (begun !== undefined) visit.result = await finish(relyingParty, request, begun, origin)
    return seeOther(TRIAL_PATHS.page)
  }

  function showPage(request: IncomingMessage): Answer {
    const known = visits.get(readSessionCookie(request.headers, COOKIE) ?? '')
    const body = renderTrial({
      person: visitor.owner,
      deviceName: visitor.name,
      isProvable: visitor.isProvable,
      switches: visitor.listSwitches(),
      result: known?.result ?? NO_RESULT,
    })
    return { status: 200, body, headers: { 'content-type': 'text/html; charset=utf-8' } }
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    // A page of somebody else reaches this port as well: it may neither read nor turn a switch.
    if (request.headers.host !== new URL(origin).host) return { status: 421 }
    if (request.method === 'POST' && request.headers.origin !== origin) return { status: 403 }
    const { pathname } = new URL(request.url ?? '/', origin)
    switch (`${request.method} ${pathname}`) {
      case `GET ${TRIAL_PATHS.page}`:
        return showPage(request)
      case `GET ${TRIAL_PATHS.style}`:
        return { status: 200, body: TRIAL_STYLE, headers: { 'content-type': 'text/css' } }
      case `GET ${TRIAL_PATHS.signIn}`:
        return signIn(request)
      case `GET ${TRIAL_PATHS.callback}`:
        return takeAnswer(request)
      case `POST ${TRIAL_PATHS.signOut}`:
        visits.delete(readSessionCookie(request.headers, COOKIE) ?? '')
        return seeOther(TRIAL_PATHS.page)
      case `POST ${TRIAL_PATHS.device}`:
        return turnSwitch(visitor, await readForm(request))
      default:
        return { status: 404 }
    }
  }

  return answer
}

function toOrigin(port: number): string {
  return `http://${HOST}:${port}`
}

async function finish(
  relyingParty: RelyingParty,
  request: IncomingMessage,
  begun: BegunSignIn,
  origin: string,
): Promise<SignInResult> {
  const url = new URL(request.url ?? '/', origin)
  try {
    return { kind: 'signed_in', claims: await relyingParty.finish(url, begun.checks) }
  } catch {
    const told = url.searchParams.get('error_description') ?? url.searchParams.get('error')
    return {
      kind: 'refused',
      reason: told?.slice(0, 500) ?? 'an answer that was not to be trusted',
    }
  }
}

function turnSwitch(visitor: VisitorDevice, form: URLSearchParams | undefined): Answer {
  const name = form?.get('switch') ?? ''
  const isKnown = visitor.listSwitches().some((each) => each.name === name)
  if (!isKnown) return { status: 400 }
  visitor.turn(name, form?.get('to') === 'bad' ? 'bad' : 'good')
  return seeOther(`${TRIAL_PATHS.page}#device`)
}

/** Undefined for a body that is larger than any form of the page. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > FORM_BYTES_MAX) return undefined
  }
  return new URLSearchParams(text)
}

function seeOther(to: string): Answer {
  return { status: 303, headers: { location: to } }
}

function send(response: ServerResponse, { status, body = '', headers }: Answer): void {
  response.writeHead(status, {
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(body)
}
