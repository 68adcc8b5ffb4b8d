/* What is read of webhooks. */
import { queryOptions } from '@tanstack/react-query'
import { getWebhooksById } from '../api/generated/sdk.gen.ts'

/** The permission that everything about webhooks needs. */
export const WEBHOOKS_PERMISSION = 'Manage Webhooks'

/** Until the next look at how its receiver is, which no live message tells. */
const LOOK_AGAIN_MS = 15_000

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) =>
      (await getWebhooksById({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: LOOK_AGAIN_MS,
  })
