import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const signInJournalRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/sign-ins',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./sign-ins-page.tsx'), 'SignInsPage'),
  }),
] as const
