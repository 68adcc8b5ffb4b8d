/*
 * Serves the built admin console under `/console`: its page with a policy that fits each answer, and its files,
 * which never change under their names. What the console does goes through the documented API.
 */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import type { ServicePart } from '../../changes/foundation.ts'
import { answerUnroutable } from '../../platform/http/create-app.ts'
import { sendErrorAnswer, toErrorAnswer } from '../../platform/http/error-response.ts'
import { isNavigation } from '../../platform/http/is-navigation.ts'
import { newSecret } from '../../platform/ids.ts'

/** Where the build of the console stands, beside `src` and `dist` alike. */
const BUILT_FOLDER = fileURLToPath(new URL('../../../console', import.meta.url))

const NONCE_PLACEHOLDER = /__CSP_NONCE__/g
const NONCE_BYTES = 18
/** Files carry a hash of their content in their names. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The admin console, to which the address of the service leads; without its build, `/console` says how to make it. */
export function createConsolePart(folder: string = BUILT_FOLDER): ServicePart {
  return { name: 'console', roles: ['api'], mount: (http) => registerConsole(http, folder) }
}

function registerConsole(app: FastifyInstance, folder: string): void {
  const pagePath = `${folder}/index.html`
  const page = existsSync(pagePath) ? readFileSync(pagePath, 'utf8') : undefined
  app.get('/', async (_request, reply) => reply.redirect('/console/', 302))
  // The router of the browser could not read such an address either.
  answerUnroutable(app, '/console', async (refusal, request, reply) =>
    isNavigation(request.headers)
      ? reply.redirect('/console/', 302)
      : sendErrorAnswer(reply, toErrorAnswer(refusal, request.id)),
  )
  void app.register(
    async (scope) => {
      if (page !== undefined) {
        await scope.register(fastifyStatic, {
          root: `${folder}/assets`,
          prefix: '/assets/',
          preCompressed: true,
          cacheControl: false,
          decorateReply: true,
          setHeaders: (reply) => void reply.header('cache-control', IMMUTABLE),
        })
        scope.get('/heliograph.svg', async (_request, reply) =>
          reply.header('cache-control', 'public, max-age=3600').sendFile('heliograph.svg', folder),
        )
      }
      // Every other address is a page of the console, which the browser tells apart.
      const pages = ['/', '/*']
      for (const url of pages) {
        scope.get(url, async (_request, reply) => {
          if (page === undefined) {
            return reply
              .code(503)
              .type('text/plain; charset=utf-8')
              .send('The console has not been built. Build it with: npm run build\n')
          }
          const nonce = newSecret(NONCE_BYTES)
          return reply
            .type('text/html; charset=utf-8')
            .headers(pageHeaders(nonce))
            .send(page.replace(NONCE_PLACEHOLDER, nonce))
        })
      }
    },
    { prefix: '/console' },
  )
}

/** Nothing from elsewhere, nothing inline without the nonce, no markup from texts, no frame around the page. */
function pageHeaders(nonce: string): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self' 'nonce-${nonce}'`,
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types default',
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
  }
}
