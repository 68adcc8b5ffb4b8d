import type { ContractWorld } from './contract-world.ts'
import { read, type RecipeTable } from './recipe.ts'

/** Issues and logs. */
export const RECORD_RECIPES: RecipeTable = {
  'GET /issues': read(
    () => '/issues',
    () => ({ expand: 'device,check' }),
  ),
  'GET /issues/{id}': read(
    ({ issue }) => `/issues/${issue}`,
    () => ({ expand: 'device,check' }),
  ),
  'GET /auth_logs': read(
    () => '/auth_logs',
    () => ({ expand: 'person,device' }),
  ),
  'GET /auth_logs/{id}': read(
    ({ authLog }) => `/auth_logs/${authLog}`,
    () => ({ expand: 'person,device' }),
  ),
  'POST /auth_logs': {
    prepare: ({ ids }) => ({
      path: '/auth_logs',
      body: { person_id: ids.person, browser_name: 'Firefox' },
    }),
  },
  'PATCH /auth_logs/{id}': {
    prepare: async (world) => ({
      path: `/auth_logs/${await openSignIn(world)}`,
      body: { city: 'Oslo' },
    }),
  },
  'POST /auth_logs/{id}/close': {
    prepare: async (world) => ({
      path: `/auth_logs/${await openSignIn(world)}/close`,
      body: { result: 'Success' },
    }),
  },
  'GET /audit_logs': read(() => '/audit_logs'),
  'GET /audit_logs/{id}': read(({ auditLog }) => `/audit_logs/${auditLog}`),
  'GET /audit_logs/{id}/changes': read(({ auditLog }) => `/audit_logs/${auditLog}/changes`),
  'GET /audit_logs/{id}/inclusion_proof': read(
    ({ auditLog }) => `/audit_logs/${auditLog}/inclusion_proof`,
  ),
  'GET /audit_checkpoints/latest': read(() => '/audit_checkpoints/latest'),
  'GET /audit_checkpoints/consistency_proof': read(
    () => '/audit_checkpoints/consistency_proof',
    () => ({ from: '1', to: '2' }),
  ),
}

async function openSignIn({ call, ids }: ContractWorld): Promise<string> {
  const session = await call('POST', '/auth_logs', { person_id: ids.person })
  return String(session['id'])
}
