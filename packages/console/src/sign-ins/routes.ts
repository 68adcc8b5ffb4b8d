import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const signInJournalRoutes = [
  createRoute({
    getParentRoute,
    path: '/sign-ins',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./sign-ins-page.tsx'), 'SignInsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sign-ins/$id',
    component: lazyPage(() => import('./sign-in-log-page.tsx'), 'SignInLogPage'),
  }),
] as const
