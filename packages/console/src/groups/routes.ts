import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const groupRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./groups-page.tsx'), 'GroupsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/people',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./person-groups-page.tsx'), 'PersonGroupsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/people/$id',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./person-group-page.tsx'), 'PersonGroupPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/groups/$id',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./device-group-page.tsx'), 'DeviceGroupPage'),
  }),
] as const
