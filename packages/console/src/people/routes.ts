import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
  }),
] as const
