import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./people-page.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people/deprovisioned',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./deprovisioned-page.tsx'), 'DeprovisionedPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/people/$id',
    component: lazyPage(() => import('./person-page.tsx'), 'PersonPage'),
  }),
] as const
