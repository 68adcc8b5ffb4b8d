import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import { readCheckSearch } from './check-search.ts'

const getParentRoute = () => frameRoute

export const checkRoutes = [
  createRoute({
    getParentRoute,
    path: '/checks',
    validateSearch: readCheckSearch,
    component: lazyRouteComponent(() => import('./checks-page.tsx'), 'ChecksPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/drafts',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./drafts/drafts-page.tsx'), 'DraftsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/drafts/$id',
    component: lazyRouteComponent(() => import('./drafts/draft-page.tsx'), 'DraftPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id',
    component: lazyRouteComponent(() => import('./check-page.tsx'), 'CheckPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id/strategy',
    component: lazyRouteComponent(() => import('./strategy-page.tsx'), 'StrategyPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id/results',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./results-page.tsx'), 'ResultsPage'),
  }),
] as const
