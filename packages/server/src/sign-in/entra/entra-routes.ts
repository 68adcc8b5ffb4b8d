/*
 * What Entra and its browsers ask for: metadata, keys, the address of requests, and the form that takes answers back.
 * Requests come from another site by their nature, and need no cookie: the answer to one is a redirection (303).
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { html } from '../pages/kit/markup.ts'
import { FORM_BYTES_MAX } from '../pages/kit/form-body.ts'
import {
  acceptForms,
  failInPages,
  formOf,
  runAsSignIns,
  type PageAnswer,
  type PageSite,
} from '../pages/page-surface.ts'
import type { EntraAnswer } from './entra-sign-in.ts'
import { beginFromEntra, entraIssuer, type EntraDependencies } from './entra-sign-in.ts'

const PATH = '/sign-in/entra'
/** Entra keeps what it has read for a day. */
const CACHE_SECONDS = 3_600
const HINT_BYTES_MAX = 2 * FORM_BYTES_MAX

/** Adds the paths to the HTTP server. */
export function mountEntra(
  http: FastifyInstance,
  site: PageSite,
  dependencies: EntraDependencies,
): void {
  const { baseUrl, keys } = dependencies
  const issuer = entraIssuer(baseUrl)
  void http.register(async (scope) => {
    runAsSignIns(scope)
    acceptForms(scope, HINT_BYTES_MAX)
    failInPages(scope, site)
    scope.get(`${PATH}/.well-known/openid-configuration`, async (_request, reply) =>
      reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`).send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        jwks_uri: `${issuer}/jwks`,
        scopes_supported: ['openid'],
        response_types_supported: ['id_token'],
        response_modes_supported: ['form_post'],
        subject_types_supported: ['pairwise'],
        id_token_signing_alg_values_supported: ['RS256'],
        claim_types_supported: ['normal'],
      }),
    )
    scope.get(`${PATH}/jwks`, async (_request, reply) =>
      reply
        .header('cache-control', `public, max-age=${CACHE_SECONDS}`)
        .send({ keys: (await keys.current()).map(toPublic) }),
    )
    scope.post(`${PATH}/authorize`, async (request, reply) => {
      const begun = await beginFromEntra(dependencies, formOf(request), readBrowser(request))
      return reply.header('set-cookie', [...begun.cookies]).redirect(begun.to, 303)
    })
  })
}

/** The public members, one by one, so that nothing private can slip in. RFC 7518 section 6.3.1. */
function toPublic(key: Awaited<ReturnType<EntraDependencies['keys']['current']>>[number]) {
  const { kid, alg, use, x5c } = key
  return { kty: 'RSA', n: key['n'], e: key['e'], kid, alg, use, x5c }
}

function readBrowser({ headers, ip }: FastifyRequest) {
  return {
    ipAddress: ip,
    userAgent: headers['user-agent'] ?? null,
    language: /^[a-z]{2}/i.exec(headers['accept-language'] ?? '')?.[0].toLowerCase() ?? 'en',
  }
}

/** The page whose one form takes an answer to Entra. */
export function toEntraPage({ action, fields }: EntraAnswer): PageAnswer {
  return {
    kind: 'page',
    policy: { formsTo: [new URL(action).origin] },
    content: {
      title: 'Sign in',
      body: html`<form method="post" action=${action} data-submit>
        ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
        <div class="actions"><button class="button button-main">Continue</button></div>
      </form>`,
    },
  }
}
