/* What is read of streams. */
import { queryOptions } from '@tanstack/react-query'
import {
  getSsfStreamsById,
  getSsfStreamsByIdHealth,
  getSsfStreamsByIdPollToken,
  getSsfStreamsByIdSelfTest,
} from '../api/generated/sdk.gen.ts'
import { ApiError } from '../api/client.ts'

/** The permission that everything about streams needs. */
export const STREAMS_PERMISSION = 'Manage Shared Signals Framework Streams'

/** Until the next look at numbers that no live message tells of. */
const LOOK_AGAIN_MS = 15_000

export const streamQuery = (id: string) =>
  queryOptions({
    queryKey: ['ssf_streams', id],
    queryFn: async ({ signal }) =>
      (await getSsfStreamsById({ path: { id }, signal, throwOnError: true })).data,
  })

export const healthQuery = (id: string) =>
  queryOptions({
    queryKey: ['ssf_streams', id, 'health'],
    queryFn: async ({ signal }) =>
      (await getSsfStreamsByIdHealth({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: LOOK_AGAIN_MS,
  })

export const pollTokensQuery = (id: string) =>
  queryOptions({
    queryKey: ['ssf_streams', id, 'poll-tokens'],
    queryFn: async ({ signal }) =>
      (await getSsfStreamsByIdPollToken({ path: { id }, signal, throwOnError: true })).data,
  })

/** The last self-test; null where there was none. */
export const selfTestQuery = (id: string) =>
  queryOptions({
    queryKey: ['ssf_streams', id, 'self-test'],
    queryFn: async ({ signal }) => {
      try {
        return (await getSsfStreamsByIdSelfTest({ path: { id }, signal, throwOnError: true })).data
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
  })
