import { read, type RecipeTable } from './recipe.ts'

export const STREAM_CHECK_RECIPES: RecipeTable = {
  'GET /deliveries': read(() => '/deliveries'),
  'GET /event_search': read(
    () => '/event_search',
    () => ({ query: 'device_id:1' }),
  ),
  'GET /ssf_streams/{id}/health': read(({ pollStreamId }) => `/ssf_streams/${pollStreamId}/health`),
  'POST /ssf_streams/{id}/self_test': {
    prepare: async ({ newStream }) => ({
      path: `/ssf_streams/${(await newStream()).id}/self_test`,
    }),
  },
  'GET /ssf_streams/{id}/self_test': {
    prepare: async ({ newStream, call }) => {
      const path = `/ssf_streams/${(await newStream()).id}/self_test`
      await call('POST', path)
      return { path }
    },
  },
  'POST /ssf_streams/{id}/explain': {
    prepare: async ({ newStream, newSpareDevice }) => ({
      path: `/ssf_streams/${(await newStream()).id}/explain`,
      body: { device_id: await newSpareDevice(), to: 'compliant', send: true },
    }),
  },
}
