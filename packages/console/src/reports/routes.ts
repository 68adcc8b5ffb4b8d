import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const reportRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports',
    component: lazyPage(() => import('./reports-page.tsx'), 'ReportsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/tables',
    component: lazyPage(() => import('./tables-page.tsx'), 'TablesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/tables/$name',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./table-page.tsx'), 'TablePage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/new',
    validateSearch: readSql,
    component: lazyPage(() => import('./edit-report-page.tsx'), 'NewReportPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/$id',
    component: lazyPage(() => import('./report-page.tsx'), 'ReportPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports/$id/edit',
    component: lazyPage(() => import('./edit-report-page.tsx'), 'EditReportPage'),
  }),
] as const

function readSql({ sql }: Readonly<Record<string, unknown>>): { readonly sql?: string } {
  return typeof sql === 'string' && sql !== '' ? { sql } : {}
}
