import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { frameRoute } from '../shell/root-route.tsx'
import { readRequestSearch } from './request-search.ts'

export const requestRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/requests',
    validateSearch: readRequestSearch,
    component: lazyPage(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/requests/sign-ins',
    component: lazyPage(() => import('./waiting-sign-ins-page.tsx'), 'WaitingSignInsPage'),
  }),
] as const
