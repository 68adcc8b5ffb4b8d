/* The style sheets, the script and the pictures of the pages. They say nothing of anybody. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { notFound } from '../../platform/app-error.ts'
import type { BrandLogo } from '../../schema/tables/sign-in-tables.ts'
import { BRAND_COLOUR, deriveBrandColours, toBrandCss } from './kit/brand-colours.ts'
import { PAGE_PATHS } from './kit/page.ts'
import type { PageAsset, PageAssets } from './kit/page-assets.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#14202b"/><circle cx="13" cy="19" r="7" fill="#ffc24b"/><path d="M18.6 13.4 26 6M20.6 18H28M14 11.4V4" stroke="#ffc24b" stroke-width="2.4" stroke-linecap="round"/></svg>`

export interface AssetSources {
  readonly assets: PageAssets
  readonly findLogo: () => Promise<BrandLogo | null>
}

/** Adds what pages load to the HTTP server. */
export function mountPageAssets(http: FastifyInstance, { assets, findLogo }: AssetSources): void {
  http.get(`${PAGE_PATHS.assets}/:name`, async (request, reply) => {
    const { name } = request.params as { name: string }
    const asset = assets.find(name)
    if (asset === undefined) throw notFound('file', name)
    return sendAsset(reply, asset, request.headers['accept-encoding'] ?? '')
  })
  http.get(PAGE_PATHS.icon, async (_request, reply) =>
    sendPicture(reply, 'image/svg+xml', Buffer.from(ICON)).header(
      'cache-control',
      'public, max-age=3600',
    ),
  )
  http.get(`${PAGE_PATHS.colours}/:file`, async (request, reply) => {
    const { file } = request.params as { file: string }
    const colour = file.replace(/\.css$/, '')
    if (!BRAND_COLOUR.test(colour)) throw notFound('file', file)
    return reply
      .type('text/css; charset=utf-8')
      .header('cache-control', IMMUTABLE)
      .send(toBrandCss(deriveBrandColours(colour)))
  })
  http.get(PAGE_PATHS.logo, async (_request, reply) => {
    const logo = await findLogo()
    if (logo === null) throw notFound('file', 'logo')
    return sendPicture(reply, logo.type, Buffer.from(logo.data, 'base64')).header(
      'cache-control',
      'public, max-age=300',
    )
  })
}

/** Opened by itself, a picture is no page: nothing in it runs or loads. */
function sendPicture(reply: FastifyReply, mediaType: string, content: Buffer): FastifyReply {
  return reply
    .type(mediaType)
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .send(content)
}

function sendAsset(reply: FastifyReply, asset: PageAsset, acceptEncoding: string): FastifyReply {
  const encoding = (['br', 'gzip'] as const).find((each) =>
    new RegExp(`\\b${each}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`).test(acceptEncoding),
  )
  const content = { br: asset.brotli, gzip: asset.gzip, plain: asset.content }[encoding ?? 'plain']
  if (encoding !== undefined) void reply.header('content-encoding', encoding)
  return reply
    .type(asset.mediaType)
    .header('cache-control', IMMUTABLE)
    .header('vary', 'accept-encoding')
    .send(content)
}
