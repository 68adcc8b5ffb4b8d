/*
 * The pictures that devices link to (`product_image_url`): one plain drawing for each platform, without
 * anybody's logo. Public, so that they show in pages and messages that hold no API key.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Platform } from '../../schema/tables/device-tables.ts'

const MAX_AGE_SECONDS = 86_400

/** Bodies of the drawings on a canvas of 96 by 96; greys that show on light and dark grounds. */
const DRAWINGS: Readonly<Record<Platform, string>> = {
  // A laptop, open.
  darwin: `<rect x="18" y="22" width="60" height="42" rx="4"/>
  <path d="M8 68h80v2a6 6 0 0 1-6 6H14a6 6 0 0 1-6-6z"/>
  <path d="M40 68h16"/>`,
  // A screen on a foot, with its keyboard.
  windows: `<rect x="12" y="14" width="72" height="46" rx="3"/>
  <path d="M48 60v10M34 70h28"/>
  <rect x="20" y="76" width="56" height="8" rx="2"/>`,
  // A screen beside a tower.
  linux: `<rect x="8" y="22" width="54" height="38" rx="3"/>
  <path d="M35 60v12M23 72h24"/>
  <rect x="68" y="18" width="20" height="56" rx="3"/>
  <path d="M73 28h10M73 35h10"/>
  <circle cx="78" cy="62" r="3"/>`,
  // A phone with a narrow opening at its top.
  ios: `<rect x="28" y="10" width="40" height="76" rx="8"/>
  <path d="M42 17h12M40 79h16"/>`,
  // A phone with a round opening and three keys.
  android: `<rect x="28" y="10" width="40" height="76" rx="4"/>
  <circle cx="48" cy="18" r="2"/>
  <path d="M38 78l4-3v6z"/>
  <circle cx="48" cy="78" r="3"/>
  <rect x="55" y="75" width="6" height="6"/>`,
}

/** Serves `GET /product-images/{platform}.svg` for every platform; caches may keep it for a day. */
export function registerProductImages(app: FastifyInstance): void {
  for (const [platform, drawing] of Object.entries(DRAWINGS)) {
    const image = toSvg(drawing)
    const etag = `"${createHash('sha256').update(image).digest('base64url').slice(0, 22)}"`
    app.get(`/product-images/${platform}.svg`, async (request, reply) => {
      void reply.headers({
        'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
        // An SVG that is opened by itself is a page: it may load and run nothing.
        'content-security-policy': "default-src 'none'",
        etag,
      })
      if (request.headers['if-none-match']?.includes(etag) === true) return reply.code(304).send()
      return reply.type('image/svg+xml; charset=utf-8').send(image)
    })
  }
}

function toSvg(drawing: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" fill="#d5dae1" stroke="#667085" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
  ${drawing}
</svg>
`
}
