import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const reportRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/reports',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./reports-page.tsx'), 'ReportsPage'),
  }),
] as const
