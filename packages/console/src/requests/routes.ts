import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../shell/root-route.tsx'
import { readRequestSearch } from './request-search.ts'

export const requestRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/requests',
    validateSearch: readRequestSearch,
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
] as const
