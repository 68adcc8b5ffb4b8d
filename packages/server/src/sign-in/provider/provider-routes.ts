/*
 * The OpenID provider as a part of the HTTP server: its paths below `/sign-in`, and the interactions that lead to the
 * pages of an attempt and back. The protocol is the library's; which address it has is said here, by the base URL.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import { findEnabledApplication } from '../applications/application-store.ts'
import { getHeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { FORM_MEDIA_TYPE } from '../pages/kit/form-body.ts'
import { failInPages, runAsSignIns, type PageSite } from '../pages/page-surface.ts'
import { UPSTREAM_CALLBACK_PATH } from '../upstreams/upstream-paths.ts'
import { attemptOfState, endUpstream, rememberPerson } from '../upstreams/upstream-sign-in.ts'
import {
  beginInteraction,
  endInteraction,
  openInteraction,
  type InteractionDependencies,
} from './interactions.ts'
import type { OpenProvider } from './provider-holder.ts'

export interface ProviderRouteDependencies extends InteractionDependencies {
  readonly openProvider: OpenProvider
}

const PREFIX = '/sign-in'

/**
 * Requests that the library takes as a GET alone, because a form of another site brings no cookie: they are sent on as
 * one, which does. OpenID Connect Core 1.0 section 3.1.2.1, RP-Initiated Logout 1.0 section 2.
 */
const FORM_PATHS = ['/authorize', '/end_session'] as const

/** What proxies take for the first line of a request, with room for its other words. */
const ADDRESS_LENGTH_MAX = 7 * 1024

/** What the library answers by itself. */
const LIBRARY_PATHS = [
  ['GET', '/.well-known/openid-configuration'],
  ['GET', '/jwks'],
  ['GET', '/authorize'],
  ['GET', '/authorize/:uid'],
  ['POST', '/token'],
  ['GET', '/userinfo'],
  ['POST', '/userinfo'],
  ['POST', '/revocation'],
  ['POST', '/par'],
  ['GET', '/end_session'],
  ['POST', '/end_session/confirm'],
  ['GET', '/end_session/success'],
] as const

/** Adds the provider to the HTTP server. Bodies are forms, and read by the library. */
export function mountProvider(
  http: FastifyInstance,
  site: PageSite,
  dependencies: ProviderRouteDependencies,
): void {
  const { openProvider, baseUrl } = dependencies
  void http.register(async (scope) => {
    runAsSignIns(scope)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const [method, path] of LIBRARY_PATHS) {
      scope.route({
        method,
        url: `${PREFIX}${path}`,
        handler: async (request, reply) => {
          const callback = (await openProvider()).callback()
          takeOver(reply)
          await callback(toLibrary(request.raw, baseUrl), reply.raw)
        },
      })
    }
  })
  void http.register(async (scope) => {
    runAsSignIns(scope)
    failInPages(scope, site)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      FORM_MEDIA_TYPE,
      { parseAs: 'string', bodyLimit: ADDRESS_LENGTH_MAX },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    )
    for (const path of FORM_PATHS) {
      scope.post(`${PREFIX}${path}`, async ({ body }, reply) =>
        reply.redirect(toAddress(`${baseUrl}${PREFIX}${path}`, body), 303),
      )
    }
    mountInteractions(scope, dependencies)
  })
}

/** A form as a query. @throws AppError `body_too_large` where an address may not be as long */
function toAddress(address: string, form: unknown): string {
  const to = form instanceof URLSearchParams ? `${address}?${form.toString()}` : address
  if (to.length <= ADDRESS_LENGTH_MAX) return to
  throw new AppError(
    'body_too_large',
    'The form is larger than an address may be. Push the request instead (RFC 9126).',
  )
}

function mountInteractions(scope: FastifyInstance, dependencies: ProviderRouteDependencies): void {
  const { openProvider, baseUrl } = dependencies
  scope.get(`${PREFIX}/interaction/:uid`, async (request, reply) => {
    const provider = await openProvider()
    const raw = toLibrary(request.raw, baseUrl)
    const interaction = await openInteraction(provider, raw, reply.raw)
    const begun = await beginInteraction(
      dependencies,
      interaction,
      readBrowser(request),
      request.headers,
    )
    if (begun !== 'unmet') {
      return reply.header('set-cookie', [...begun.cookies]).redirect(begun.to, 303)
    }
    takeOver(reply)
    return provider.interactionFinished(raw, reply.raw, {
      error: 'access_denied',
      error_description: 'what was asked for could not be met',
    })
  })
  scope.get(`${PREFIX}/interaction/:uid/finish`, async (request, reply) => {
    const { attempt: id } = request.query as { readonly attempt?: unknown }
    const held = await getHeldAttempt(dependencies, request.headers, String(id))
    const provider = await openProvider()
    const raw = toLibrary(request.raw, baseUrl)
    await endInteraction(dependencies, provider, held, {
      request: raw,
      response: reply.raw,
      takeOver: () => takeOver(reply),
    })
  })
  scope.get(UPSTREAM_CALLBACK_PATH, async (request, reply) =>
    answerUpstream(dependencies, request, reply),
  )
}

/** What an upstream provider sends the browser back with. OpenID Connect Core 1.0 sections 3.1.2.5 and 3.1.2.6. */
async function answerUpstream(
  dependencies: ProviderRouteDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as Readonly<Record<string, unknown>>
  const state = textOf(query['state']) ?? ''
  const held = await getHeldAttempt(dependencies, request.headers, attemptOfState(state))
  const { attempt } = held
  const own = `${dependencies.baseUrl}${PREFIX}/attempts/${attempt.id}`
  const application =
    attempt.applicationId === null
      ? undefined
      : await findEnabledApplication(dependencies.db, { id: attempt.applicationId })
  if (application !== undefined && attempt.stage === 'person') {
    const code = textOf(query['code'])
    const answer = code === undefined ? undefined : { code, state, iss: textOf(query['iss']) }
    const ended = await endUpstream(dependencies.upstream, held, application, answer)
    // Whoever was proven, and not refused.
    if (ended.stage === 'device') {
      void reply.header('set-cookie', rememberPerson(dependencies.upstream, ended, application))
    }
  }
  return reply.redirect(own, 303)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** From here on the library answers, with the headers of every answer. */
function takeOver(reply: FastifyReply): void {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value)
  }
}

/** A request as the library knows it: without the prefix, and at the address that the world knows. */
function toLibrary(request: IncomingMessage, baseUrl: string): IncomingMessage {
  const { host, protocol, pathname } = new URL(baseUrl)
  const mounted = request as IncomingMessage & { originalUrl?: string }
  const prefix = `${pathname === '/' ? '' : pathname}${PREFIX}`
  const path = (request.url ?? '').slice(PREFIX.length)
  mounted.originalUrl = `${prefix}${path}`
  request.url = path
  request.headers.host = host
  delete request.headers['x-forwarded-host']
  request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
  return request
}

function readBrowser(request: FastifyRequest) {
  const { headers, ip } = request
  return {
    ipAddress: ip,
    userAgent: headers['user-agent'] ?? null,
    language: /^[a-z]{2}/i.exec(headers['accept-language'] ?? '')?.[0].toLowerCase() ?? 'en',
  }
}
