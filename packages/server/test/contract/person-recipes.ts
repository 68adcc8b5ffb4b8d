import { read, type RecipeTable } from './recipe.ts'

export const PERSON_RECIPES: RecipeTable = {
  'GET /people': read(() => '/people'),
  'GET /people/{id}': read(({ person }) => `/people/${person}`),
  'GET /people/{id}/person_groups': read(({ person }) => `/people/${person}/person_groups`),
  'GET /people/{id}/registered_devices': read(
    ({ person }) => `/people/${person}/registered_devices`,
    () => ({ expand: 'owner' }),
  ),
  'GET /people/{id}/open_issues': read(
    ({ person }) => `/people/${person}/open_issues`,
    () => ({ expand: 'check' }),
  ),
  'GET /person_groups': read(() => '/person_groups'),
  'GET /person_groups/{id}': read(({ personGroup }) => `/person_groups/${personGroup}`),
  'GET /person_groups/{id}/people': read(
    ({ personGroup }) => `/person_groups/${personGroup}/people`,
  ),
  'GET /deprovisioned_people': read(() => '/deprovisioned_people'),
  'GET /deprovisioned_people/{id}': read(
    ({ deprovisionedPerson }) => `/deprovisioned_people/${deprovisionedPerson}`,
  ),
}
