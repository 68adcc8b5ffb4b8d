import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const eventSearchRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/find',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./event-search-page.tsx'), 'EventSearchPage'),
  }),
] as const
