import { queryOptions } from '@tanstack/react-query'
import { getChecksByIdConfigurations } from '../api/generated/sdk.gen.ts'

/** The configuration of a check. */
export const configurationQuery = (id: string) =>
  queryOptions({
    queryKey: ['checks', id, 'configuration'],
    queryFn: async ({ signal }) =>
      (await getChecksByIdConfigurations({ path: { id }, signal, throwOnError: true })).data,
  })
