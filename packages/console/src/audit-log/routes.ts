import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const auditLogRoutes = [
  createRoute({
    getParentRoute,
    path: '/audit-log',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit-log/$id',
    component: lazyPage(() => import('./audit-entry-page.tsx'), 'AuditEntryPage'),
  }),
] as const
