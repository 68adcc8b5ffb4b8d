import type { ContractWorld } from './contract-world.ts'
import type { RecipeTable } from './recipe.ts'

/** A webhook with an event that was sent to it. */
async function newDelivery({ call, newWebhook }: ContractWorld) {
  const path = `/webhooks/${await newWebhook()}`
  const { event_id: eventId } = await call('POST', `${path}/test`)
  return { path, eventId: String(eventId) }
}

/** A webhook with an event that nobody sends: no engine runs. */
async function newQueuedDelivery({ call, unique, receiverUrl }: ContractWorld) {
  const webhook = await call('POST', '/webhooks', {
    name: unique('Webhook'),
    url: receiverUrl,
    events: ['audit_log.recorded'],
  })
  const path = `/webhooks/${String(webhook['id'])}`
  await call('POST', '/device_groups', { name: unique('Group') })
  const { data } = await call('GET', `${path}/deliveries`)
  const [first] = data as { event_id: string }[]
  // Else it would be told of everything that follows.
  await call('PATCH', path, { events: ['issues.new'] })
  return { path, eventId: first?.event_id ?? '' }
}

/** A webhook that was off while something happened that it asks for. */
async function newMissedEvent({ call, unique, receiverUrl }: ContractWorld) {
  const [path, other] = await Promise.all(
    [1, 2].map(async () => {
      const name = unique('Webhook')
      const body = { name, url: receiverUrl, events: ['webhook.enabled'], enabled: false }
      return `/webhooks/${String((await call('POST', '/webhooks', body))['id'])}`
    }),
  )
  await call('PATCH', other ?? '', { enabled: true })
  await call('PATCH', path ?? '', { enabled: true })
  await call('PATCH', other ?? '', { enabled: false })
  return path ?? ''
}

export const WEBHOOK_RECIPES: RecipeTable = {
  'POST /webhooks/{id}/check_signature': {
    prepare: async ({ newWebhook }) => ({
      path: `/webhooks/${await newWebhook()}/check_signature`,
      body: { headers: { 'webhook-id': 'none' }, body: '{}' },
    }),
  },
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
  'GET /webhooks/{id}/deliveries': {
    prepare: async (world) => ({ path: `${(await newDelivery(world)).path}/deliveries` }),
  },
  'GET /webhooks/{id}/deliveries/{event_id}': {
    prepare: async (world) => {
      const { path, eventId } = await newDelivery(world)
      return { path: `${path}/deliveries/${eventId}` }
    },
  },
  'POST /webhooks/{id}/deliveries/{event_id}/resend': {
    prepare: async (world) => {
      const { path, eventId } = await newDelivery(world)
      return { path: `${path}/deliveries/${eventId}/resend` }
    },
  },
  'POST /webhooks/{id}/redrive': {
    prepare: async (world) => {
      const { path, eventId } = await newQueuedDelivery(world)
      const body = { event_ids: [eventId] }
      await world.call('POST', `${path}/discard`, body)
      return { path: `${path}/redrive`, body: { ...body, include_discarded: true } }
    },
  },
  'POST /webhooks/{id}/discard': {
    prepare: async (world) => {
      const { path, eventId } = await newQueuedDelivery(world)
      return { path: `${path}/discard`, body: { event_ids: [eventId] } }
    },
  },
  'POST /webhooks/{id}/recover': {
    prepare: async (world) => ({
      path: `${await newMissedEvent(world)}/recover`,
      body: { since: '2026-01-02T03:04:05Z' },
    }),
  },
  'GET /webhook_events': {
    prepare: async (world) => {
      await newDelivery(world)
      return { path: '/webhook_events' }
    },
  },
  'GET /webhook_events/{id}': {
    prepare: async (world) => ({ path: `/webhook_events/${(await newDelivery(world)).eventId}` }),
  },
}
