import { CHECK_RECIPES } from './check-recipes.ts'
import { DEVICE_RECIPES } from './device-recipes.ts'
import { ORGANISATION_RECIPES } from './organisation-recipes.ts'
import { PERSON_RECIPES } from './person-recipes.ts'
import { QUERY_RECIPES } from './query-recipes.ts'
import type { Recipe, RecipeTable } from './recipe.ts'
import { RECORD_RECIPES } from './record-recipes.ts'
import { REQUEST_RECIPES } from './request-recipes.ts'
import { STREAM_CHECK_RECIPES } from './stream-check-recipes.ts'
import { SIGNING_KEY_RECIPES } from './signing-key-recipes.ts'
import { SIGN_IN_RECIPES } from './sign-in-recipes.ts'
import { SSF_CLIENT_RECIPES } from './ssf-client-recipes.ts'
import { STREAM_RECIPES } from './stream-recipes.ts'
import { WEBHOOK_RECIPES } from './webhook-recipes.ts'

/** How every operation of the API is exercised. A new operation needs an entry here. */
export const RECIPES: RecipeTable = {
  ...DEVICE_RECIPES,
  ...PERSON_RECIPES,
  ...CHECK_RECIPES,
  ...REQUEST_RECIPES,
  ...RECORD_RECIPES,
  ...QUERY_RECIPES,
  ...ORGANISATION_RECIPES,
  ...SSF_CLIENT_RECIPES,
  ...STREAM_RECIPES,
  ...WEBHOOK_RECIPES,
  ...SIGNING_KEY_RECIPES,
  ...STREAM_CHECK_RECIPES,
  ...SIGN_IN_RECIPES,
}

/** The recipe of an operation; PUT is exercised as PATCH is, and an export as its list. */
export function findRecipe(operation: string): Recipe | undefined {
  const table: Readonly<Record<string, Recipe>> = RECIPES
  const own = table[operation] ?? table[operation.replace(/^PUT /, 'PATCH ')]
  const list = EXPORT.exec(operation)?.groups?.['list']
  return own ?? (list === undefined ? undefined : exportRecipe(table[`GET ${list}`]))
}

const EXPORT = /^GET \/exports(?<list>\/.+)\.csv$/

function exportRecipe(list: Recipe | undefined): Recipe | undefined {
  if (list === undefined) return undefined
  return {
    prepare: async (world) => {
      const { path } = await list.prepare(world)
      return { path: `/exports${path}.csv` }
    },
  }
}
