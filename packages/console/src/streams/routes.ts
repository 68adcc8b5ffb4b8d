import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const streamRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./streams-page.tsx'), 'StreamsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/new',
    component: lazyRouteComponent(() => import('./new-stream-page.tsx'), 'NewStreamPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/$streamId',
    validateSearch: readTabSearch,
    component: lazyRouteComponent(() => import('./stream-page.tsx'), 'StreamPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/$streamId/edit',
    component: lazyRouteComponent(() => import('./edit-stream-page.tsx'), 'EditStreamPage'),
  }),
] as const
