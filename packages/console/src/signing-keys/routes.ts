import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const signingKeyRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/keys',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./signing-keys-page.tsx'), 'SigningKeysPage'),
  }),
] as const
