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
] as const
