import { read, type RecipeTable } from './recipe.ts'

/** The organisation, its admins, and what enrolls devices. */
export const ORGANISATION_RECIPES: RecipeTable = {
  'GET /retention_policies': read(() => '/retention_policies'),
  'GET /whoami': read(() => '/whoami'),
  'GET /admin_users': read(() => '/admin_users'),
  'GET /admin_users/{id}': read(({ admin }) => `/admin_users/${admin}`),
  'PATCH /admin_users/{id}': {
    prepare: async ({ newAdmin, ids }) => ({
      path: `/admin_users/${await newAdmin()}`,
      body: { first_name: 'Augusta', access: 'limited', keys_to: ids.admin },
    }),
  },
  'DELETE /admin_users/{id}': {
    prepare: async ({ newAdmin }) => ({ path: `/admin_users/${await newAdmin()}` }),
  },
  'GET /packages': read(() => '/packages'),
  'GET /packages/{id}': read(() => '/packages/1'),
  'GET /packages/{id}/download': read(() => '/packages/1/download'),
}
