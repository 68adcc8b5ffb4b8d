import { z } from 'zod'
import { answer, route, type ApiRoute } from '../../platform/http/route.ts'
import type { KeyRing } from './key-ring.ts'

const jwksSchema = z
  .object({
    keys: z.array(
      z.object({
        kty: z.string(),
        n: z.string(),
        e: z.string(),
        kid: z.string().describe('Names the key in the header of every token.'),
        alg: z.literal('RS256'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({ id: 'KeySet', description: 'The public keys that verify event tokens. RFC 7517.' })

/** Shorter than the time that a new key is published before it signs. */
const CACHE_CONTROL = 'public, max-age=300'

/** The public key set, for anyone and without a rate limit: receivers may fetch it for every token. */
export function jwksRoutes({ keyRing }: { readonly keyRing: KeyRing }): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/ssf/jwks.json',
      summary: 'Show the keys that verify event tokens',
      tags: ['Shared Signals'],
      permission: 'public',
      responses: { 200: jwksSchema },
      handler: () =>
        answer(200, { keys: keyRing.publishedKeys() }, { 'cache-control': CACHE_CONTROL }),
    }),
  ]
}
