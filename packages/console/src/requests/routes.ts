import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const requestRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/requests',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
] as const
