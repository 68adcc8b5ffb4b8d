import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../shell/root-route.tsx'
import { readNowSearch } from './now-search.ts'

export const nowRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/',
    validateSearch: readNowSearch,
    component: lazyRouteComponent(() => import('./now-page.tsx'), 'NowPage'),
  }),
] as const
