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
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/people',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./person-groups-page.tsx'), 'PersonGroupsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/people/$id',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./person-group-page.tsx'), 'PersonGroupPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/$id',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./device-group-page.tsx'), 'DeviceGroupPage'),
  }),
] as const
