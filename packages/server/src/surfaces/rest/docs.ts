import { createHash } from 'node:crypto'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g
const SCRIPT_MAX_AGE_SECONDS = 3_600

/**
 * Serves the rendered API reference at `/docs`, from this origin alone: no outside fonts, no proxy, no
 * telemetry, and a content policy that would stop them.
 */
export function registerDocs(app: FastifyInstance): void {
  void app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply, payload) => {
      const type = String(reply.getHeader('content-type') ?? '')
      if (type.startsWith('text/html') && typeof payload === 'string') {
        reply.header('content-security-policy', contentPolicy(payload))
      } else if (type.startsWith('application/javascript')) {
        reply.header('cache-control', `public, max-age=${SCRIPT_MAX_AGE_SECONDS}`)
      }
      return payload
    })
    await scope.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json',
        pageTitle: 'Heliograph API',
        withDefaultFonts: false,
        proxyUrl: '',
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    })
  })
}

/** Scripts of this origin and the one inline script that starts them; styles are set by the scripts. */
function contentPolicy(page: string): string {
  const hashes = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`.trim(),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
