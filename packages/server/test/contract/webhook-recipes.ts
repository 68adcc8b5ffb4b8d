import type { RecipeTable } from './recipe.ts'

export const WEBHOOK_RECIPES: RecipeTable = {
  'GET /webhooks': { prepare: () => ({ path: '/webhooks' }) },
  'POST /webhooks': {
    prepare: ({ unique, receiverUrl }) => ({
      path: '/webhooks',
      body: { name: unique('Webhook'), url: receiverUrl, events: ['devices.created'] },
    }),
  },
  'GET /webhooks/{id}': {
    prepare: async ({ newWebhook }) => ({ path: `/webhooks/${await newWebhook()}` }),
  },
  'PATCH /webhooks/{id}': {
    prepare: async ({ newWebhook, unique }) => ({
      path: `/webhooks/${await newWebhook()}`,
      body: { name: unique('Renamed') },
    }),
  },
  'DELETE /webhooks/{id}': {
    prepare: async ({ newWebhook }) => ({ path: `/webhooks/${await newWebhook()}` }),
  },
  'GET /webhooks/{id}/secret': {
    prepare: async ({ newWebhook }) => ({ path: `/webhooks/${await newWebhook()}/secret` }),
  },
  'POST /webhooks/{id}/rotate_secret': {
    prepare: async ({ newWebhook }) => ({
      path: `/webhooks/${await newWebhook()}/rotate_secret`,
      body: { immediate: true },
    }),
  },
  'POST /webhooks/{id}/test': {
    prepare: async ({ newWebhook }) => ({ path: `/webhooks/${await newWebhook()}/test` }),
  },
}
