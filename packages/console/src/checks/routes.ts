import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import { readCheckSearch } from './check-search.ts'

const getParentRoute = () => frameRoute

export const checkRoutes = [
  createRoute({
    getParentRoute,
    path: '/checks',
    validateSearch: readCheckSearch,
    component: lazyPage(() => import('./checks-page.tsx'), 'ChecksPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/drafts',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./drafts/drafts-page.tsx'), 'DraftsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/drafts/$id',
    component: lazyPage(() => import('./drafts/draft-page.tsx'), 'DraftPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id',
    component: lazyPage(() => import('./check-page.tsx'), 'CheckPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id/strategy',
    component: lazyPage(() => import('./strategy-page.tsx'), 'StrategyPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/checks/$id/results',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./results-page.tsx'), 'ResultsPage'),
  }),
] as const
