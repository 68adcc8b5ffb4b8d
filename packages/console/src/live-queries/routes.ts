import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const liveQueryRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/live-queries',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./live-queries-page.tsx'), 'LiveQueriesPage'),
  }),
] as const
