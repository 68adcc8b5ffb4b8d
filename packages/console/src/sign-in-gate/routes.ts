import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import { readGuideSearch, readLiveSearch } from './gate-search.ts'

const getParentRoute = () => frameRoute

export const signInGateRoutes = [
  createRoute({
    getParentRoute,
    path: '/settings/sign-in',
    component: lazyPage(() => import('./applications-page.tsx'), 'ApplicationsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/new',
    validateSearch: readGuideSearch,
    component: lazyPage(() => import('./new-application-page.tsx'), 'NewApplicationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/applications/$id',
    validateSearch: readTabSearch,
    component: lazyPage(() => import('./application-page.tsx'), 'ApplicationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers',
    component: lazyPage(() => import('./upstreams-page.tsx'), 'UpstreamsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers/new',
    component: lazyPage(() => import('./upstream-page.tsx'), 'NewUpstreamPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers/$id',
    component: lazyPage(() => import('./upstream-page.tsx'), 'UpstreamPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/policy',
    component: lazyPage(() => import('./policy-page.tsx'), 'PolicyPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/sessions',
    validateSearch: readLiveSearch,
    component: lazyPage(() => import('./sessions-page.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/browsers',
    validateSearch: readLiveSearch,
    component: lazyPage(() => import('./browsers-page.tsx'), 'BrowsersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/entra-accounts',
    component: lazyPage(() => import('./entra-page.tsx'), 'EntraPage'),
  }),
] as const
