import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { rootRoute } from '../shell/root-route.tsx'

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: ({ next }: Readonly<Record<string, unknown>>) =>
      typeof next === 'string' && next.startsWith('/console/') ? { next } : {},
    component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in/provider',
    component: lazyPage(() => import('./provider-return-page.tsx'), 'ProviderReturnPage'),
  }),
] as const
