import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const signingKeyRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/keys',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./signing-keys-page.tsx'), 'SigningKeysPage'),
  }),
] as const
