import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import { readGuideSearch, readLiveSearch } from './gate-search.ts'

const getParentRoute = () => frameRoute

export const signInGateRoutes = [
  createRoute({
    getParentRoute,
    path: '/settings/sign-in',
    component: lazyRouteComponent(() => import('./applications-page.tsx'), 'ApplicationsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/new',
    validateSearch: readGuideSearch,
    component: lazyRouteComponent(() => import('./new-application-page.tsx'), 'NewApplicationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/applications/$id',
    validateSearch: readTabSearch,
    component: lazyRouteComponent(() => import('./application-page.tsx'), 'ApplicationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers',
    component: lazyRouteComponent(() => import('./upstreams-page.tsx'), 'UpstreamsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers/new',
    component: lazyRouteComponent(() => import('./upstream-page.tsx'), 'NewUpstreamPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/upstream-providers/$id',
    component: lazyRouteComponent(() => import('./upstream-page.tsx'), 'UpstreamPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/policy',
    component: lazyRouteComponent(() => import('./policy-page.tsx'), 'PolicyPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/sessions',
    validateSearch: readLiveSearch,
    component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/browsers',
    validateSearch: readLiveSearch,
    component: lazyRouteComponent(() => import('./browsers-page.tsx'), 'BrowsersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/sign-in/entra-accounts',
    component: lazyRouteComponent(() => import('./entra-page.tsx'), 'EntraPage'),
  }),
] as const
