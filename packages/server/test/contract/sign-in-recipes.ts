import type { ContractWorld } from './contract-world.ts'
import { read, type RecipeTable } from './recipe.ts'

async function newApplication({ call, unique }: ContractWorld): Promise<string> {
  const body = { name: unique('Wiki'), redirect_uris: ['https://wiki.example.com/callback'] }
  return `/sign_in_applications/${String((await call('POST', '/sign_in_applications', body))['id'])}`
}

/** One that nobody asks is made each time: there may be few of them. */
async function newUpstream({ call, remove, unique }: ContractWorld): Promise<string> {
  const path = '/sign_in_upstream_providers'
  for (const { id } of (await call('GET', path))['data'] as { id: string }[]) {
    await remove(`${path}/${id}`)
  }
  const { id } = await call('POST', path, upstream(unique('Example')))
  return `${path}/${String(id)}`
}

function upstream(name: string) {
  return {
    name,
    issuer: 'http://127.0.0.1:9',
    client_id: name.replaceAll(' ', '-'),
    client_secret: 'a secret of the provider',
  }
}

async function newApproval(world: ContractWorld): Promise<string> {
  const device = await world.newSpareDevice()
  return `/sign_in_attempts/${await world.newSignInApproval('ada@example.com', device)}`
}

export const SIGN_IN_RECIPES: RecipeTable = {
  'GET /sign_in_applications': read(() => '/sign_in_applications'),
  'POST /sign_in_applications': {
    prepare: ({ unique }) => ({
      path: '/sign_in_applications',
      body: { name: unique('Wiki'), redirect_uris: ['https://wiki.example.com/callback'] },
    }),
  },
  'GET /sign_in_applications/{id}': {
    prepare: async (world) => ({ path: await newApplication(world) }),
  },
  'PATCH /sign_in_applications/{id}': {
    prepare: async (world) => ({
      path: await newApplication(world),
      body: { name: world.unique('Renamed') },
    }),
  },
  'DELETE /sign_in_applications/{id}': {
    prepare: async (world) => ({ path: await newApplication(world) }),
  },
  'POST /sign_in_applications/{id}/rotate_secret': {
    prepare: async (world) => ({ path: `${await newApplication(world)}/rotate_secret` }),
  },
  'GET /sign_in_applications/{id}/recent_requests': {
    prepare: async (world) => ({ path: `${await newApplication(world)}/recent_requests` }),
  },
  'GET /sign_in_applications/{id}/last_refusals': {
    prepare: async (world) => ({ path: `${await newApplication(world)}/last_refusals` }),
  },
  'POST /sign_in_applications/{id}/check_request': {
    prepare: async (world) => ({
      path: `${await newApplication(world)}/check_request`,
      body: { client_secret: 'not the secret' },
    }),
  },
  'GET /sign_in_upstream_providers': read(() => '/sign_in_upstream_providers'),
  'POST /sign_in_upstream_providers': {
    prepare: async (world) => {
      await newUpstream(world)
      return { path: '/sign_in_upstream_providers', body: upstream(world.unique('Example')) }
    },
  },
  'GET /sign_in_upstream_providers/{id}': {
    prepare: async (world) => ({ path: await newUpstream(world) }),
  },
  'PATCH /sign_in_upstream_providers/{id}': {
    prepare: async (world) => ({
      path: await newUpstream(world),
      body: { name: world.unique('Renamed') },
    }),
  },
  'DELETE /sign_in_upstream_providers/{id}': {
    prepare: async (world) => ({ path: await newUpstream(world) }),
  },
  'POST /sign_in_upstream_providers/{id}/check': {
    prepare: async (world) => ({ path: `${await newUpstream(world)}/check` }),
  },
  'GET /sign_in_policy': read(() => '/sign_in_policy'),
  'PATCH /sign_in_policy': {
    prepare: ({ unique }) => ({ path: '/sign_in_policy', body: { brand_name: unique('Brand') } }),
  },
  'GET /sign_in_sessions': read(() => '/sign_in_sessions'),
  'DELETE /sign_in_sessions/{id}': {
    prepare: async ({ ids, newGrantedSession }) => ({
      path: `/sign_in_sessions/${await newGrantedSession(ids.person, ids.device)}`,
    }),
  },
  'GET /sign_in_browser_keys': {
    prepare: async ({ ids, newBrowserKey }) => {
      await newBrowserKey(ids.person, ids.device)
      return { path: '/sign_in_browser_keys' }
    },
  },
  'DELETE /sign_in_browser_keys/{id}': {
    prepare: async ({ ids, newBrowserKey }) => ({
      path: `/sign_in_browser_keys/${await newBrowserKey(ids.person, ids.device)}`,
    }),
  },
  'GET /sign_in_entra_accounts': {
    prepare: async ({ ids, newEntraAccount }) => {
      await newEntraAccount(ids.person)
      return { path: '/sign_in_entra_accounts' }
    },
  },
  'DELETE /sign_in_entra_accounts/{id}': {
    prepare: async ({ ids, newEntraAccount }) => ({
      path: `/sign_in_entra_accounts/${await newEntraAccount(ids.person)}`,
    }),
  },
  'GET /sign_in_attempts': {
    prepare: async (world) => {
      await newApproval(world)
      return { path: '/sign_in_attempts' }
    },
  },
  'POST /sign_in_attempts/{id}/approve': {
    prepare: async (world) => ({ path: `${await newApproval(world)}/approve` }),
  },
  'POST /sign_in_attempts/{id}/deny': {
    prepare: async (world) => ({ path: `${await newApproval(world)}/deny` }),
  },
  'POST /issues/{id}/fix_links': {
    prepare: ({ ids }) => ({
      path: `/issues/${ids.issue}/fix_links`,
      body: { expires_in_hours: 1 },
    }),
  },
}
