import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const deviceRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/devices',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./devices-page.tsx'), 'DevicesPage'),
  }),
] as const
