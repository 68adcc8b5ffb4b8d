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
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/requests/sign-ins',
    component: lazyRouteComponent(
      () => import('./waiting-sign-ins-page.tsx'),
      'WaitingSignInsPage',
    ),
  }),
] as const
