import { read, type RecipeTable } from './recipe.ts'

export const EXPORT_RECIPES: RecipeTable = {
  'GET /exports/devices.csv': read(() => '/exports/devices.csv'),
  'GET /exports/people.csv': read(() => '/exports/people.csv'),
  'GET /exports/checks.csv': read(() => '/exports/checks.csv'),
  'GET /exports/issues.csv': read(() => '/exports/issues.csv'),
  'GET /exports/auth_logs.csv': read(() => '/exports/auth_logs.csv'),
  'GET /exports/audit_logs.csv': read(() => '/exports/audit_logs.csv'),
  'GET /exports/deliveries.csv': read(() => '/exports/deliveries.csv'),
  'GET /exports/exemption_requests.csv': read(() => '/exports/exemption_requests.csv'),
  'GET /exports/registration_requests.csv': read(() => '/exports/registration_requests.csv'),
  'GET /exports/live_query_campaigns/{id}/query_results.csv': read(
    ({ campaign }) => `/exports/live_query_campaigns/${campaign}/query_results.csv`,
  ),
}
