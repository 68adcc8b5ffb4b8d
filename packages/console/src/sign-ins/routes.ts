import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const signInJournalRoutes = [
  createRoute({
    getParentRoute,
    path: '/sign-ins',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./sign-ins-page.tsx'), 'SignInsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sign-ins/$id',
    component: lazyRouteComponent(() => import('./sign-in-log-page.tsx'), 'SignInLogPage'),
  }),
] as const
