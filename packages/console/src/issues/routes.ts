import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const issueRoutes = [
  createRoute({
    getParentRoute,
    path: '/issues',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/issues/$id',
    component: lazyPage(() => import('./issue-page.tsx'), 'IssuePage'),
  }),
] as const
