import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../shell/root-route.tsx'

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: ({ next }: Readonly<Record<string, unknown>>) =>
      typeof next === 'string' && next.startsWith('/console/') ? { next } : {},
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in/provider',
    component: lazyRouteComponent(() => import('./provider-return-page.tsx'), 'ProviderReturnPage'),
  }),
] as const
