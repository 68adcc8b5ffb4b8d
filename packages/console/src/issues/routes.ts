import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const issueRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/issues',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./issues-page.tsx'), 'IssuesPage'),
  }),
] as const
