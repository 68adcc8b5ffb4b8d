import { read, type RecipeTable } from './recipe.ts'

export const CHECK_RECIPES: RecipeTable = {
  'GET /checks': read(() => '/checks'),
  'GET /checks/{id}': read(({ check }) => `/checks/${check}`),
  'GET /checks/{id}/results': read(
    ({ check }) => `/checks/${check}/results`,
    () => ({ expand: 'device' }),
  ),
  'GET /checks/{id}/configurations': read(({ check }) => `/checks/${check}/configurations`),
  'PATCH /checks/{id}/configurations': {
    prepare: async ({ newCheck }) => ({
      path: `/checks/${await newCheck()}/configurations`,
      body: {
        remediation_strategy: 'warn_then_block',
        block_auth_grace_period_days: 7,
        excluded_groups: ['linux'],
      },
    }),
  },
  'GET /checks/{id}/configurations/history': read(
    ({ check }) => `/checks/${check}/configurations/history`,
  ),
  'POST /checks/{id}/configurations/undo': {
    prepare: async ({ newCheck, call }) => {
      const path = `/checks/${await newCheck()}/configurations`
      await call('PATCH', path, { remediation_strategy: 'notify_only' })
      return { path: `${path}/undo` }
    },
  },
  'POST /checks/{id}/configurations/preview': {
    prepare: ({ ids }) => ({
      path: `/checks/${ids.check}/configurations/preview`,
      body: { remediation_strategy: 'block_immediately' },
    }),
  },
  'POST /checks/{id}/runs': {
    prepare: ({ ids }) => ({
      path: `/checks/${ids.externalCheck}/runs`,
      body: {
        device_id: Number(ids.device),
        check_data: JSON.stringify({ KOLIDE_CHECK_STATUS: 'PASS', source: 'inventory' }),
      },
    }),
  },
  'GET /custom_check_drafts': read(() => '/custom_check_drafts'),
  'GET /custom_check_drafts/{id}': read(({ draft }) => `/custom_check_drafts/${draft}`),
  'POST /custom_check_drafts': {
    prepare: ({ unique }) => ({ path: '/custom_check_drafts', body: { name: unique('Draft') } }),
  },
  'PATCH /custom_check_drafts/{id}': {
    prepare: async ({ newDraft }) => ({
      path: `/custom_check_drafts/${await newDraft()}`,
      body: { description: 'Another one.' },
    }),
  },
  'DELETE /custom_check_drafts/{id}': {
    prepare: async ({ newDraft }) => ({ path: `/custom_check_drafts/${await newDraft()}` }),
  },
  'POST /custom_check_drafts/{id}/runs': {
    prepare: async ({ newDraft, newDevice }) => ({
      path: `/custom_check_drafts/${await newDraft()}/runs`,
      body: { device_id: await newDevice() },
    }),
  },
  'GET /custom_check_drafts/{id}/runs/{campaign_id}': {
    prepare: async ({ newDraft, newDevice, call }) => {
      const path = `/custom_check_drafts/${await newDraft()}/runs`
      const run = await call('POST', path, { device_id: await newDevice() })
      return { path: `${path}/${String(run['live_query_campaign_id'])}` }
    },
  },
  'POST /custom_check_drafts/{id}/preview': {
    prepare: ({ ids }) => ({
      path: `/custom_check_drafts/${ids.draft}/preview`,
      body: { rows: [{ KOLIDE_CHECK_STATUS: 'FAIL' }] },
    }),
  },
  'POST /custom_check_drafts/{id}/publish': {
    prepare: async ({ newDraft }) => ({ path: `/custom_check_drafts/${await newDraft()}/publish` }),
  },
}
