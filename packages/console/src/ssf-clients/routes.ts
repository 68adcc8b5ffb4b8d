import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const ssfClientRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./ssf-clients-page.tsx'), 'SsfClientsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/new',
    component: lazyPage(() => import('./new-ssf-client-page.tsx'), 'NewSsfClientPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/$clientId',
    component: lazyPage(() => import('./ssf-client-page.tsx'), 'SsfClientPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/clients/$clientId/edit',
    component: lazyPage(() => import('./edit-ssf-client-page.tsx'), 'EditSsfClientPage'),
  }),
] as const
