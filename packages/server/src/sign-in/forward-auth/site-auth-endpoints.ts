/*
 * What proxies ask: may this request pass? Answered with 200 for whoever is let in and never for anybody else. Proxies
 * alone may ask, for what they say of a request is believed.
 */
import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import { statusOfError } from '../../platform/http/error-response.ts'
import { toRequestError } from '../../platform/http/request-error.ts'
import type { AddressList } from '../../platform/net/address-list.ts'
import {
  ENVOY_PATH,
  readForwardedRequest,
  type ForwardedRequest,
} from './forwarded-request-input.ts'
import { judgeForwarded, type SiteContext, type SiteRefusal } from './judge-forwarded.ts'
import { writeSiteCookie } from './site-cookie-input.ts'
import { toSiteHeaders } from './site-headers-json.ts'
import type { SignSiteToken } from './site-token.ts'

export interface SiteAuthContext extends SiteContext {
  readonly isTrustedProxy: AddressList
  readonly signToken: SignSiteToken
}

/** Why a request is refused whoever sends it. */
type Refusal = SiteRefusal | 'proxy_not_trusted' | 'request_unclear'

const WORDS = {
  proxy_not_trusted:
    'This address is none of HELIOGRAPH_TRUSTED_PROXIES: what it says of requests is not believed.',
  request_unclear:
    'The proxy does not say which address is asked for, or it says several things, or that address is not one by HTTPS.',
  site_unknown: 'No application has this host.',
  ticket_spent:
    'This way back from the sign-in is good for a minute, once, and in the browser that began. If the browser keeps no cookies, let it; then open the address again.',
} as const satisfies Record<Refusal, string>

const PATH = '/sign-in/auth'
const RULES_OF_A_HOST = ['strict-transport-security', 'x-frame-options'] as const

/** Adds the addresses to the HTTP server: one for proxies that say in headers what they ask about, one for Envoy. */
export function mountSiteAuth(http: FastifyInstance, context: SiteAuthContext): void {
  void http.register(async (scope) => {
    // Some proxies ask with the method of the request; what it carries is not looked at.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => {
      payload.resume()
      done(null)
    })
    scope.setErrorHandler(answerFault)
    // Proxies relay what lets nobody in: what browsers are to do at a site is for the site to say.
    scope.addHook('onRequest', async (_request, reply) => {
      for (const name of RULES_OF_A_HOST) reply.removeHeader(name)
    })
    addMethods(scope)
    const handler = async (request: FastifyRequest, reply: FastifyReply) =>
      answer(context, request, reply)
    for (const url of [PATH, ENVOY_PATH, `${ENVOY_PATH}/*`]) scope.all(url, handler)
  })
}

/** Envoy asks with the method of the request, which may be one of WebDAV. A tunnel is no request to a site. */
function addMethods(scope: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !scope.supportedMethods.includes(method)) {
      scope.addHttpMethod(method, { hasBody: true })
    }
  }
}

async function answer(
  context: SiteAuthContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { headers, method, raw } = request
  if (!context.isTrustedProxy(raw.socket.remoteAddress)) return refuse(reply, 'proxy_not_trusted')
  const asked = readForwardedRequest({ headers, method, url: raw.url ?? '' }, context.baseUrl)
  if (asked === undefined) return refuse(reply, 'request_unclear')
  const verdict = await judgeForwarded(context, asked)
  switch (verdict.kind) {
    case 'let_in': {
      const token = await context.signToken(verdict.session, asked.site)
      return reply.code(200).headers(toSiteHeaders(verdict.session, token)).send()
    }
    case 'redirect':
      return redirect(context, reply, asked, verdict)
    case 'not_signed_in':
      return reply.code(401).type('text/plain; charset=utf-8').send('Nobody is signed in here.\n')
    case 'refused':
      return refuse(reply, verdict.code)
  }
}

/** One cookie at most: of several nginx takes the first. */
function redirect(
  { baseUrl }: SiteAuthContext,
  reply: FastifyReply,
  { isRedirectedByProxy }: ForwardedRequest,
  {
    to,
    cookie,
  }: { readonly to: string; readonly cookie: { value: string; seconds: number } | undefined },
): FastifyReply {
  if (cookie !== undefined) {
    void reply.header('set-cookie', writeSiteCookie(cookie.value, cookie.seconds, baseUrl))
  }
  return reply
    .code(isRedirectedByProxy ? 401 : 302)
    .header('location', to)
    .send()
}

function refuse(reply: FastifyReply, code: Refusal): FastifyReply {
  return reply
    .code(403)
    .header('x-heliograph-refusal', code)
    .type('text/plain; charset=utf-8')
    .send(`${WORDS[code]}\n`)
}

/** No proxy lets a request pass for one of these. */
function answerFault(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal =
    thrown instanceof AppError ? thrown : (toUnavailable(thrown) ?? toRequestError(thrown, request))
  if (refusal === undefined) request.log.error({ err: thrown }, 'request failed')
  else if (refusal.kind === 'unavailable') {
    request.log.warn({ err: thrown }, 'request refused: unavailable')
  }
  const status = refusal === undefined ? 500 : statusOfError(refusal)
  return reply
    .code(status)
    .type('text/plain; charset=utf-8')
    .send('The request cannot be judged.\n')
}
