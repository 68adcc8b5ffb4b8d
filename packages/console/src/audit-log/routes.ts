import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const auditLogRoutes = [
  createRoute({
    getParentRoute,
    path: '/audit-log',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit-log/$id',
    component: lazyRouteComponent(() => import('./audit-entry-page.tsx'), 'AuditEntryPage'),
  }),
] as const
