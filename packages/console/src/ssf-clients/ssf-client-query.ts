import { queryOptions } from '@tanstack/react-query'
import { getSsfClientsById } from '../api/generated/sdk.gen.ts'

export const ssfClientQuery = (id: string) =>
  queryOptions({
    queryKey: ['ssf_clients', id],
    queryFn: async ({ signal }) =>
      (await getSsfClientsById({ path: { id }, signal, throwOnError: true })).data,
  })
