import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { frameRoute } from '../shell/root-route.tsx'
import { readNowSearch } from './now-search.ts'

export const nowRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/',
    validateSearch: readNowSearch,
    component: lazyPage(() => import('./now-page.tsx'), 'NowPage'),
  }),
] as const
