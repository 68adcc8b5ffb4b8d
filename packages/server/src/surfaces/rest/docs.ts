import { createHash } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g
const SCRIPT_MAX_AGE_SECONDS = 3_600

/**
 * Serves the rendered API reference at `/docs`, from this origin alone: no outside fonts, no proxy, no
 * telemetry, and a content policy that would stop them.
 */
export function registerDocs(app: FastifyInstance): void {
  let reference: Promise<FastifyInstance> | undefined
  const findReference = () => {
    reference ??= createReference().catch((error: unknown) => {
      // The next reader tries again.
      reference = undefined
      throw error
    })
    return reference
  }
  // `/docs` is the same to the router, and the reference leads it on to `/docs/`.
  for (const path of ['/docs/', '/docs/js/scalar.js']) {
    app.get(path, async (request, reply) => {
      const rendering = await findReference()
      const { statusCode, headers, body } = await rendering.inject(request.url)
      const { location, 'content-type': type = '' } = headers
      if (type.startsWith('text/html')) {
        reply.header('content-security-policy', contentPolicy(body))
      } else if (type.startsWith('application/javascript')) {
        reply.header('cache-control', `public, max-age=${SCRIPT_MAX_AGE_SECONDS}`)
      }
      if (type !== '') reply.header('content-type', type)
      if (location !== undefined) reply.header('location', location)
      return reply.code(statusCode).send(body)
    })
  }
}

/**
 * Made for the first reader: the library is a hundred modules and a script of megabytes, which a start does not need.
 */
async function createReference(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(scalar, {
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
  return app
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
