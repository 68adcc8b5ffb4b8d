import { queryOptions } from '@tanstack/react-query'
import { getSsfJwksJson } from '../api/generated/sdk.gen.ts'

/** The published keys: read once for all tokens of a page. */
export const jwksQuery = queryOptions({
  queryKey: ['ssf_signing_keys', 'published'],
  queryFn: async ({ signal }) => (await getSsfJwksJson({ signal, throwOnError: true })).data,
})
