/*
 * How pages for people are served: what a handler is given of a request, what it may answer, and what every page has:
 * its language, its policy, its own words for failures. Knows no page.
 */
import type { Readable } from 'node:stream'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS, SECOND_MS } from '../../platform/clock.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import {
  createErrorHandler,
  SERVICE_ERRORS,
  statusOfError,
} from '../../platform/http/error-response.ts'
import { answerUnroutable } from '../../platform/http/create-app.ts'
import { isNavigation } from '../../platform/http/is-navigation.ts'
import { unmatchedPath } from '../../platform/http/unmatched-path.ts'
import { toRequestError } from '../../platform/http/request-error.ts'
import { runAs } from '../../platform/db/pool-turns.ts'
import { readSessionCookie } from '../../platform/http/session-cookie.ts'
import {
  assertOwnForm,
  FORM_BYTES_MAX,
  FORM_MEDIA_TYPE,
  parseFormBody,
  type FormBody,
} from './kit/form-body.ts'
import { renderPage, type Page, type PageBrand } from './kit/page.ts'
import { pageHeaders, type PagePolicy } from './kit/page-headers.ts'
import type { PageAssets } from './kit/page-assets.ts'
import { showFailure } from './show-failure.ts'
import { chooseLanguage, findLanguage, type Language } from './texts/language.ts'

/** What pages are served with. */
export interface PageSite {
  /** What browsers call the service. */
  readonly baseUrl: string
  readonly assets: PageAssets
  readonly readBrand: () => Promise<PageBrand>
}

/** What a page is asked with. */
export interface PageRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly language: Language
  readonly address: string
  /** Of whoever sent the request to the service, such as a proxy. */
  readonly peerAddress: string
  readonly requestId: string
  /** Empty but for a POST. */
  readonly form: FormBody
  readonly readCookie: (name: string) => string | undefined
}

/** A page without what it has in common with the others. */
export type PageContent = Omit<Page, 'language' | 'brand'>

/**
 * What is answered: a page, the way to another one (RFC 9110 section 15.4.4), events, data for the script of a page, or
 * data to keep.
 */
export type PageAnswer =
  | {
      readonly kind: 'page'
      readonly content: PageContent
      readonly status?: number
      readonly policy?: PagePolicy
      /** Of an attempt that has one of its own. */
      readonly language?: Language
      readonly cookies?: readonly string[]
    }
  | { readonly kind: 'see_other'; readonly to: string; readonly cookies?: readonly string[] }
  | { readonly kind: 'events'; readonly stream: Readable }
  | { readonly kind: 'data'; readonly content: object }
  | { readonly kind: 'download'; readonly fileName: string; readonly content: object }

/** A page, or what one of its forms does. */
export interface PageRoute {
  readonly method: 'GET' | 'POST'
  /** Below the address of the service. */
  readonly path: string
  readonly handler: (request: PageRequest) => Promise<PageAnswer>
}

/** Adds pages to the HTTP server. */
export function mountPages(
  http: FastifyInstance,
  site: PageSite,
  routes: readonly PageRoute[],
): void {
  void http.register(async (scope) => {
    runAsSignIns(scope)
    acceptForms(scope, FORM_BYTES_MAX)
    failInPages(scope, site)
    for (const { method, path, handler } of routes) {
      scope.route({
        method,
        url: path,
        handler: async (request, reply) => {
          if (method === 'POST') assertOwnForm(request.headers, site.baseUrl)
          return send(site, reply, request, await handler(toPageRequest(request)))
        },
      })
    }
  })
}

/**
 * Requests of these paths are work of people who sign in: it has its own turns at the connections, and waits for locks
 * as long as devices do. Much of it goes on after the answer, where nobody could be told to try again.
 */
export function runAsSignIns(scope: FastifyInstance): void {
  scope.addHook('onRequest', (_request, _reply, done) => runAs('sign-ins', done))
}

/** What goes wrong with these paths is told to people, in a page. */
export function failInPages(scope: FastifyInstance, site: PageSite): void {
  scope.setErrorHandler((thrown, request, reply) => answerFailure(site, thrown, request, reply))
}

/**
 * Paths below `prefix` that are no page are told to people in one, and to machines as everywhere else. Whoever asks for
 * many costs the database nothing: the page has no brand.
 */
export function refuseUnknownPages(http: FastifyInstance, site: PageSite, prefix: string): void {
  const answerMachine = createErrorHandler(SERVICE_ERRORS)
  const bare: PageSite = { ...site, readBrand: async () => UNKNOWN_BRAND }
  const answer = async (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (isNavigation(request.headers)) return answerFailure(bare, thrown, request, reply)
    return answerMachine(thrown, request, reply)
  }
  answerUnroutable(http, prefix, async (refusal, request, reply) => {
    // Whoever has such an address has got it cut off or changed on its way.
    const thrown = isNavigation(request.headers) ? unmatchedPath(request.method, []) : refusal
    return answer(thrown, request, reply)
  })
  void http.register(
    async (scope) => {
      scope.setErrorHandler(answer)
      // What the server has not refused before, as it does every unknown path.
      scope.setNotFoundHandler(({ method }) => {
        throw unmatchedPath(method, [])
      })
    },
    { prefix },
  )
}

/** Bodies of these paths are forms, and nothing else. */
export function acceptForms(scope: FastifyInstance, bytesMax: number): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    FORM_MEDIA_TYPE,
    { parseAs: 'string', bodyLimit: bytesMax },
    (_request, body, done) => {
      try {
        done(null, parseFormBody(String(body)))
      } catch (error) {
        done(error as Error)
      }
    },
  )
}

/** The form that a request brought; empty without one. */
export function formOf({ body }: Pick<FastifyRequest, 'body'>): FormBody {
  return body instanceof Map ? (body as FormBody) : new Map()
}

const LANGUAGE_COOKIE = 'heliograph-language'
const LANGUAGE_COOKIE_SECONDS = (365 * DAY_MS) / SECOND_MS

function toPageRequest(request: FastifyRequest): PageRequest {
  const { headers } = request
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: request.query as Readonly<Record<string, unknown>>,
    headers,
    language: languageOf(request),
    address: request.ip,
    peerAddress: request.raw.socket.remoteAddress ?? '',
    requestId: request.id,
    form: formOf(request),
    readCookie: (name) => readSessionCookie(headers, { name, isSecure: false }),
  }
}

/** What the address says counts from then on; without any choice, what the browser asks for. */
function languageOf(request: FastifyRequest): Language {
  const { headers } = request
  return (
    chosenLanguage(request) ??
    findLanguage(readSessionCookie(headers, { name: LANGUAGE_COOKIE, isSecure: false })) ??
    chooseLanguage(headers['accept-language'])
  )
}

function chosenLanguage({ query }: FastifyRequest): Language | undefined {
  // There is none where the address could not be read.
  const { language } = (query ?? {}) as { readonly language?: unknown }
  return typeof language === 'string' ? findLanguage(language) : undefined
}

function languageCookie(language: Language, baseUrl: string): string {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${LANGUAGE_COOKIE}=${language}; Path=/sign-in; Max-Age=${LANGUAGE_COOKIE_SECONDS}; HttpOnly${secure}; SameSite=Lax`
}

async function send(
  site: PageSite,
  reply: FastifyReply,
  request: FastifyRequest,
  answer: PageAnswer,
): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'page': {
      const chosen = chosenLanguage(request)
      const language = chosen ?? answer.language ?? languageOf(request)
      const choice = chosen === undefined ? [] : [languageCookie(chosen, site.baseUrl)]
      setCookies(reply, [...choice, ...(answer.cookies ?? [])])
      return sendPage(site, reply, { ...answer, language })
    }
    case 'see_other':
      setCookies(reply, answer.cookies ?? [])
      return reply.code(303).header('location', answer.to).send()
    case 'events':
      return reply.type('text/event-stream').header('x-accel-buffering', 'no').send(answer.stream)
    case 'data':
      return reply.header('cache-control', 'no-store').send(answer.content)
    case 'download':
      return reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="${answer.fileName}"`)
        .send(`${JSON.stringify(answer.content, undefined, 2)}\n`)
  }
}

function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) void reply.header('set-cookie', [...cookies])
}

interface SentPage {
  readonly content: PageContent
  readonly language: Language
  readonly status?: number
  readonly policy?: PagePolicy
}

/** A page as it is sent: its HTML, and the headers of it. */
export async function toWholePage(
  { readBrand, assets }: PageSite,
  { content, language, policy }: SentPage,
): Promise<{ readonly html: string; readonly headers: Record<string, string> }> {
  const brand = await readBrand()
  return {
    html: renderPage({ ...content, language, brand }, assets),
    headers: {
      ...pageHeaders(policy),
      'content-language': language,
      vary: 'accept-language, cookie',
    },
  }
}

async function sendPage(
  site: PageSite,
  reply: FastifyReply,
  sent: SentPage,
): Promise<FastifyReply> {
  const { html, headers } = await toWholePage(site, sent)
  return reply
    .code(sent.status ?? 200)
    .type('text/html; charset=utf-8')
    .headers(headers)
    .send(html)
}

/** A failure as a page; logged once where it is one of the service. */
async function answerFailure(
  site: PageSite,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const refusal =
    thrown instanceof AppError ? thrown : (toUnavailable(thrown) ?? toRequestError(thrown, request))
  if (refusal === undefined) request.log.error({ err: thrown }, 'request failed')
  else if (refusal.kind === 'unavailable') {
    request.log.warn({ err: thrown }, 'request refused: unavailable')
  }
  const status = refusal === undefined ? 500 : statusOfError(refusal)
  const language = languageOf(request)
  const content = showFailure({ language, refusal, requestId: request.id })
  const { readBrand } = site
  // The database may be what failed: the page of a failure needs none.
  const withBrand = { ...site, readBrand: () => readBrand().catch(() => UNKNOWN_BRAND) }
  return sendPage(withBrand, reply, { content, language, status })
}

const UNKNOWN_BRAND: PageBrand = { name: 'Heliograph', logoVersion: null, colour: null }
