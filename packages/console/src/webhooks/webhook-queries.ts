/* What is read of webhooks. */
import { queryOptions } from '@tanstack/react-query'
import { getWebhooksById } from '../api/generated/sdk.gen.ts'

/** The permission that everything about webhooks needs. */
export const WEBHOOKS_PERMISSION = 'Manage Webhooks'

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) =>
      (await getWebhooksById({ path: { id }, signal, throwOnError: true })).data,
  })
