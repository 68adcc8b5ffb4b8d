import type { ContractWorld } from './contract-world.ts'
import { read, type RecipeTable } from './recipe.ts'

async function newClient({ call, unique }: ContractWorld): Promise<string> {
  const client = await call('POST', '/ssf_clients', { name: unique('Gateway') })
  return String(client['id'])
}

export const SSF_CLIENT_RECIPES: RecipeTable = {
  'GET /ssf_clients': read(() => '/ssf_clients'),
  'GET /ssf_clients/{id}': {
    prepare: async (world) => ({ path: `/ssf_clients/${await newClient(world)}` }),
  },
  'POST /ssf_clients': {
    prepare: ({ unique }) => ({
      path: '/ssf_clients',
      body: { name: unique('Gateway'), scopes: ['ssf.read'] },
    }),
  },
  'PATCH /ssf_clients/{id}': {
    prepare: async (world) => ({
      path: `/ssf_clients/${await newClient(world)}`,
      body: { name: world.unique('Renamed'), audience: 'https://receiver.example.com' },
    }),
  },
  'POST /ssf_clients/{id}/rotate_secret': {
    prepare: async (world) => ({
      path: `/ssf_clients/${await newClient(world)}/rotate_secret`,
      body: { overlap_seconds: 60 },
    }),
  },
  'DELETE /ssf_clients/{id}': {
    prepare: async (world) => ({ path: `/ssf_clients/${await newClient(world)}` }),
  },
}
