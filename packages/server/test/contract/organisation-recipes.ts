import type { ContractWorld } from './contract-world.ts'
import { read, type RecipeTable } from './recipe.ts'

const RESPONSIBLE = 'grace@example.com'

async function newKey({ call, unique }: ContractWorld): Promise<string> {
  const body = { name: unique('Key'), responsible_email: RESPONSIBLE }
  return `/api_keys/${String((await call('POST', '/api_keys', body))['id'])}`
}

async function newEnrollmentSecret({ call, unique }: ContractWorld): Promise<string> {
  const body = { name: unique('Laptops') }
  return `/enrollment_secrets/${String((await call('POST', '/enrollment_secrets', body))['id'])}`
}

async function newSavedView({ call, unique }: ContractWorld): Promise<string> {
  const body = { name: unique('View'), list: '/devices', page: '/devices', shared: true }
  return `/saved_views/${String((await call('POST', '/saved_views', body))['id'])}`
}

/** The organisation, its admins, and what enrolls devices. */
export const ORGANISATION_RECIPES: RecipeTable = {
  'GET /retention_policies': read(() => '/retention_policies'),
  'GET /overview': read(
    () => '/overview',
    () => ({ time_zone: 'Europe/Berlin' }),
  ),
  'GET /overview/device_statuses': read(
    () => '/overview/device_statuses',
    () => ({ step: '1h' }),
  ),
  'GET /saved_views': read(() => '/saved_views'),
  'POST /saved_views': {
    prepare: ({ unique }) => ({
      path: '/saved_views',
      body: { name: unique('View'), list: '/devices', page: '/devices', shared: true },
    }),
  },
  'PATCH /saved_views/{id}': {
    prepare: async (world) => ({
      path: await newSavedView(world),
      body: { name: world.unique('View'), columns: ['name'], order: 'desc' },
    }),
  },
  'DELETE /saved_views/{id}': {
    prepare: async (world) => ({ path: await newSavedView(world) }),
  },
  'GET /whoami': read(() => '/whoami'),
  'GET /admin_users': read(() => '/admin_users'),
  'GET /admin_users/{id}': read(({ admin }) => `/admin_users/${admin}`),
  'POST /admin_users': {
    prepare: ({ unique }) => ({
      path: '/admin_users',
      body: {
        email: `${unique('admin')
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')}@example.com`,
        first_name: 'Alan',
        last_name: 'Turing',
        access: 'billing_only',
      },
    }),
  },
  'POST /admin_users/{id}/sign_in_link': {
    prepare: async ({ newInvitedAdmin }) => ({
      path: `/admin_users/${await newInvitedAdmin()}/sign_in_link`,
    }),
  },
  'GET /admin_devices': read(() => '/admin_devices'),
  'GET /admin_sessions': read(() => '/admin_sessions'),
  'DELETE /admin_sessions/{id}': {
    prepare: async ({ newSession }) => ({ path: `/admin_sessions/${await newSession()}` }),
  },
  'PATCH /admin_users/{id}': {
    prepare: async ({ newAdmin, ids }) => ({
      path: `/admin_users/${await newAdmin()}`,
      body: { first_name: 'Augusta', access: 'limited', keys_to: ids.admin },
    }),
  },
  'DELETE /admin_users/{id}': {
    prepare: async ({ newAdmin }) => ({ path: `/admin_users/${await newAdmin()}` }),
  },
  'GET /api_keys': read(() => '/api_keys'),
  'POST /api_keys': {
    prepare: ({ unique }) => ({
      path: '/api_keys',
      body: {
        name: unique('Key'),
        responsible_email: RESPONSIBLE,
        permissions: [{ permission: 'Remove Devices', rationale: 'Offboarding.' }],
        expires_at: '2099-01-02T03:04:05Z',
      },
    }),
  },
  'GET /api_keys/{id}': { prepare: async (world) => ({ path: await newKey(world) }) },
  'PATCH /api_keys/{id}': {
    prepare: async (world) => ({
      path: await newKey(world),
      body: { name: world.unique('Renamed'), permissions: [], expires_at: null },
    }),
  },
  'DELETE /api_keys/{id}': { prepare: async (world) => ({ path: await newKey(world) }) },
  'POST /api_keys/{id}/rotate': {
    prepare: async (world) => ({
      path: `${await newKey(world)}/rotate`,
      body: { overlap_seconds: 60 },
    }),
  },
  'POST /api_keys/{id}/reveal': {
    prepare: async (world) => ({
      path: `${await newKey(world)}/reveal`,
      body: { reason: 'Its copy was lost.' },
    }),
  },
  'GET /api_keys/{id}/refusals': {
    prepare: async (world) => ({ path: `${await newKey(world)}/refusals` }),
  },
  'POST /api_keys/{id}/try_permissions': {
    prepare: async (world) => ({
      path: `${await newKey(world)}/try_permissions`,
      body: { permissions: ['Remove Devices'] },
    }),
  },
  'GET /organisation': read(() => '/organisation'),
  'PATCH /organisation': {
    prepare: ({ unique }) => ({
      path: '/organisation',
      body: {
        name: unique('Example'),
        compliance_threshold: 'blocked',
        api_writes: true,
        ssf: true,
      },
    }),
  },
  'GET /scim_settings': read(() => '/scim_settings'),
  'GET /enrollment_secrets': read(() => '/enrollment_secrets'),
  'POST /enrollment_secrets': {
    prepare: ({ unique }) => ({
      path: '/enrollment_secrets',
      body: {
        name: unique('Laptops'),
        owner_email: 'ada@example.com',
        expires_at: '2099-01-02T03:04:05Z',
        uses_max: 25,
        alarm_uses_per_hour: null,
      },
    }),
  },
  'GET /enrollment_secrets/{id}': {
    prepare: async (world) => ({ path: await newEnrollmentSecret(world) }),
  },
  'DELETE /enrollment_secrets/{id}': {
    prepare: async (world) => ({ path: await newEnrollmentSecret(world) }),
  },
  'GET /packages': read(() => '/packages'),
  'GET /packages/{id}': read(() => '/packages/1'),
  'GET /live': read(
    () => '/live',
    () => ({ seconds: '0' }),
  ),
  'GET /packages/{id}/download': read(() => '/packages/1/download'),
}
