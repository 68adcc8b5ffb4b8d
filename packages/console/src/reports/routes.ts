import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const reportRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports',
    component: lazyRouteComponent(() => import('./reports-page.tsx'), 'ReportsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/tables',
    component: lazyRouteComponent(() => import('./tables-page.tsx'), 'TablesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/tables/$name',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./table-page.tsx'), 'TablePage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/new',
    validateSearch: readSql,
    component: lazyRouteComponent(() => import('./edit-report-page.tsx'), 'NewReportPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/$id',
    component: lazyRouteComponent(() => import('./report-page.tsx'), 'ReportPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/$id/edit',
    component: lazyRouteComponent(() => import('./edit-report-page.tsx'), 'EditReportPage'),
  }),
] as const

function readSql({ sql }: Readonly<Record<string, unknown>>): { readonly sql?: string } {
  return typeof sql === 'string' && sql !== '' ? { sql } : {}
}
