import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const eventSearchRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/find',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./event-search-page.tsx'), 'EventSearchPage'),
  }),
] as const
