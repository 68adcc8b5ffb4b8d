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
  'GET /audit_logs': read(() => '/audit_logs'),
  'GET /audit_logs/{id}': read(({ auditLog }) => `/audit_logs/${auditLog}`),
}
