import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const auditLogRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/audit-log',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
] as const
