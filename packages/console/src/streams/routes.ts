import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const streamRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/streams',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./streams-page.tsx'), 'StreamsPage'),
  }),
] as const
