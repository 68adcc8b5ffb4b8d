import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const checkRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/checks',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./checks-page.tsx'), 'ChecksPage'),
  }),
] as const
