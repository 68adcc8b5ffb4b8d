import { z } from 'zod'
import { SECOND_MS } from '../../platform/clock.ts'
import { answer, route, type ApiRoute } from '../../schema/operations.ts'
import type { KeyRing } from './key-ring.ts'
import { PUBLICATION_LEAD_MS } from './signing-keys.ts'

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

/** Far shorter than the time that a new key is published before it signs; a revocation is seen soon. */
const CACHE_SECONDS_MAX = 300

export interface JwksRouteDependencies {
  readonly keyRing: KeyRing
  readonly publicationLeadMs?: number | undefined
}

/** The public key set, for anyone and without a rate limit: receivers may fetch it for every token. */
export function jwksRoutes({ keyRing, publicationLeadMs }: JwksRouteDependencies): ApiRoute[] {
  const leadSeconds = (publicationLeadMs ?? PUBLICATION_LEAD_MS) / SECOND_MS
  const maxAge = Math.min(CACHE_SECONDS_MAX, Math.floor(leadSeconds / 2))
  return [
    route({
      method: 'GET',
      path: '/ssf/jwks.json',
      summary: 'Show the keys that verify event tokens',
      tags: ['Shared Signals'],
      permission: 'public',
      responses: { 200: jwksSchema },
      handler: ({ address }) => {
        keyRing.proofs.noteFetch(address)
        const headers = { 'cache-control': `public, max-age=${maxAge}` }
        return answer(200, { keys: keyRing.publishedKeys() }, headers)
      },
    }),
  ]
}
