import { read, type RecipeTable } from './recipe.ts'

export const STREAM_RECIPES: RecipeTable = {
  'GET /.well-known/ssf-configuration': read(() => '/.well-known/ssf-configuration'),
  'GET /ssf/jwks.json': read(() => '/ssf/jwks.json'),
  'GET /ssf_streams': read(() => '/ssf_streams'),
  'GET /ssf_streams/{id}': read(({ pollStreamId }) => `/ssf_streams/${pollStreamId}`),
  'GET /ssf_streams/status': read(
    () => '/ssf_streams/status',
    ({ pollStreamId }) => ({ stream_id: pollStreamId }),
  ),
  'POST /ssf_streams/status': {
    prepare: async ({ newStream }) => ({
      path: '/ssf_streams/status',
      body: { stream_id: (await newStream()).streamId, status: 'paused', reason: 'Maintenance' },
    }),
  },
  'POST /ssf_streams': {
    prepare: ({ unique, receiverUrl }) => ({
      path: '/ssf_streams',
      body: {
        name: unique('Stream'),
        delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: receiverUrl },
      },
    }),
  },
  'PATCH /ssf_streams/{id}': {
    prepare: async ({ newStream, unique }) => ({
      path: `/ssf_streams/${(await newStream()).id}`,
      body: { name: unique('Renamed') },
    }),
  },
  'DELETE /ssf_streams/{id}': {
    prepare: async ({ newStream }) => ({ path: `/ssf_streams/${(await newStream()).id}` }),
  },
  'PATCH /ssf_streams': {
    prepare: async ({ newStream }) => ({
      path: '/ssf_streams',
      body: { stream_id: (await newStream()).streamId, description: 'Gateway' },
    }),
    // It takes members that it does not know, and answers 400 as SSF 1.0 has it.
    invalidBody: { stream_id: 7 },
    invalidStatus: 400,
  },
  'DELETE /ssf_streams': {
    prepare: async ({ newStream }) => ({
      path: '/ssf_streams',
      query: { stream_id: (await newStream()).streamId },
    }),
  },
  'POST /ssf_streams/verify': {
    prepare: async ({ newStream }) => ({
      path: '/ssf_streams/verify',
      body: { stream_id: (await newStream()).streamId, state: 'VGhpcyBpcyBhIHRlc3Q' },
    }),
    invalidBody: { stream_id: 7 },
    invalidStatus: 400,
  },
  'GET /ssf_streams/{id}/poll_token': read(
    ({ pollStreamId }) => `/ssf_streams/${pollStreamId}/poll_token`,
  ),
  'POST /ssf_streams/{id}/poll_token': {
    prepare: ({ ids }) => ({
      path: `/ssf_streams/${ids.pollStreamId}/poll_token`,
      body: { mode: 'overlap', overlap_seconds: 60 },
    }),
  },
  'POST /ssf_streams/{id}/rotate_poll_token': {
    prepare: ({ ids }) => ({
      path: `/ssf_streams/${ids.pollStreamId}/rotate_poll_token`,
      body: { mode: 'immediate' },
    }),
  },
  'POST /ssf_streams/{id}/test': {
    prepare: async ({ newStream }) => ({
      path: `/ssf_streams/${(await newStream()).id}/test`,
      body: { email: 'ada@example.com' },
    }),
  },
  'GET /ssf_streams/{id}/subjects': {
    prepare: async ({ newStream, newSpareDevice, call }) => {
      const path = `/ssf_streams/${(await newStream()).id}`
      await call('POST', `${path}/remove_subject`, { device_id: await newSpareDevice() })
      return { path: `${path}/subjects` }
    },
  },
  'POST /ssf_streams/{id}/add_subject': {
    prepare: async ({ newStream }) => ({
      path: `/ssf_streams/${(await newStream()).id}/add_subject`,
      body: { subject: { format: 'email', email: 'ada@example.com' } },
    }),
  },
  'POST /ssf_streams/{id}/remove_subject': {
    prepare: async ({ newStream, newSpareDevice }) => ({
      path: `/ssf_streams/${(await newStream()).id}/remove_subject`,
      body: { device_id: await newSpareDevice() },
    }),
  },
  'GET /ssf_streams/{id}/deliveries': read(
    ({ pollStreamId }) => `/ssf_streams/${pollStreamId}/deliveries`,
  ),
  'GET /ssf_streams/{id}/deliveries/{event_id}': {
    prepare: async ({ newDelivery }) => {
      const { streamId, eventId } = await newDelivery()
      return { path: `/ssf_streams/${streamId}/deliveries/${eventId}` }
    },
  },
  'POST /ssf_streams/{id}/deliveries/{event_id}/resend': {
    prepare: async ({ newDelivery }) => {
      const { streamId, eventId } = await newDelivery()
      return { path: `/ssf_streams/${streamId}/deliveries/${eventId}/resend` }
    },
  },
  'POST /ssf_streams/{id}/redrive': {
    prepare: async ({ call, newQueuedDelivery }) => {
      const { streamId, eventId } = await newQueuedDelivery()
      const body = { event_ids: [eventId] }
      await call('POST', `/ssf_streams/${streamId}/discard`, body)
      return {
        path: `/ssf_streams/${streamId}/redrive`,
        body: { ...body, include_discarded: true },
      }
    },
  },
  'POST /ssf_streams/{id}/discard': {
    prepare: async ({ newQueuedDelivery }) => {
      const { streamId, eventId } = await newQueuedDelivery()
      return { path: `/ssf_streams/${streamId}/discard`, body: { event_ids: [eventId] } }
    },
  },
  'GET /ssf_streams/{id}/state': read(({ pollStreamId }) => `/ssf_streams/${pollStreamId}/state`),
  'POST /ssf_streams/{id}/replay': {
    prepare: async ({ newStream }) => ({
      path: `/ssf_streams/${(await newStream()).id}/replay`,
      body: { from_time: 0 },
    }),
    invalidBody: {},
  },
  'POST /ssf_streams/{id}/backfill': {
    prepare: async ({ newStream }) => ({
      path: `/ssf_streams/${(await newStream()).id}/backfill`,
    }),
  },
  'GET /ssf_streams/{id}/events': read(({ pollStreamId }) => `/ssf_streams/${pollStreamId}/events`),
  'POST /ssf_streams/{id}/events': {
    prepare: ({ ids }) => ({
      path: `/ssf_streams/${ids.pollStreamId}/events`,
      body: { ack: ['5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11'] },
    }),
    // A poll takes members that it does not know (RFC 8936 section 2.2 leaves room for more).
    invalidBody: { ack: 'all' },
  },
}
