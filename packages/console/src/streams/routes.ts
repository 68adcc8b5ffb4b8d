import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const streamRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./streams-page.tsx'), 'StreamsPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/new',
    component: lazyPage(() => import('./new-stream-page.tsx'), 'NewStreamPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/$streamId',
    validateSearch: readTabSearch,
    component: lazyPage(() => import('./stream-page.tsx'), 'StreamPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams/$streamId/edit',
    component: lazyPage(() => import('./edit-stream-page.tsx'), 'EditStreamPage'),
  }),
] as const
