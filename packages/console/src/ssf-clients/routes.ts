import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const ssfClientRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./ssf-clients-page.tsx'), 'SsfClientsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/new',
    component: lazyRouteComponent(() => import('./new-ssf-client-page.tsx'), 'NewSsfClientPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/$clientId',
    component: lazyRouteComponent(() => import('./ssf-client-page.tsx'), 'SsfClientPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/$clientId/edit',
    component: lazyRouteComponent(() => import('./edit-ssf-client-page.tsx'), 'EditSsfClientPage'),
  }),
] as const
