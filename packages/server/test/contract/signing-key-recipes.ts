import { read, type RecipeTable } from './recipe.ts'

export const SIGNING_KEY_RECIPES: RecipeTable = {
  'GET /ssf_signing_keys': read(() => '/ssf_signing_keys'),
  'POST /ssf_signing_keys/rotate': {
    prepare: async ({ endRotation }) => {
      await endRotation()
      return { path: '/ssf_signing_keys/rotate', body: { modulus_bits: 2048 } }
    },
  },
  'POST /ssf_signing_keys/rollback': {
    prepare: async ({ newSigningKey }) => {
      await newSigningKey()
      return { path: '/ssf_signing_keys/rollback' }
    },
  },
  'POST /ssf_signing_keys/{kid}/revoke': {
    prepare: async ({ newSigningKey }) => ({
      path: `/ssf_signing_keys/${await newSigningKey()}/revoke`,
    }),
  },
}
