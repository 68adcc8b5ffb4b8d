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
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people/deprovisioned',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./deprovisioned-page.tsx'), 'DeprovisionedPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people/$id',
    component: lazyRouteComponent(() => import('./person-page.tsx'), 'PersonPage'),
  }),
] as const
