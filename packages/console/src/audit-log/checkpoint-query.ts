import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { getAuditCheckpointsLatest } from '../api/generated/sdk.gen.ts'

/** The latest checkpoint; null before the first one. */
export const checkpointQuery = queryOptions({
  queryKey: ['audit_checkpoints', 'latest'],
  queryFn: async ({ signal }) => {
    try {
      return (await getAuditCheckpointsLatest({ signal, throwOnError: true })).data
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  },
})
