import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const groupRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./groups-page.tsx'), 'GroupsPage'),
  }),
] as const
