import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const nowRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./now-page.tsx'), 'NowPage'),
  }),
] as const
