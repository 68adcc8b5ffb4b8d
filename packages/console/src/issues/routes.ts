import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const issueRoutes = [
  createRoute({
    getParentRoute,
    path: '/issues',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/issues/$id',
    component: lazyRouteComponent(() => import('./issue-page.tsx'), 'IssuePage'),
  }),
] as const
