import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { toNextPage, type NextPage } from '../shell/next-page.ts'
import { rootRoute } from '../shell/root-route.tsx'
import { isSignInPath } from '../shell/sign-in-path.ts'

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: ({ next }: Readonly<Record<string, unknown>>): NextPage => {
      const path = toNextPage(next)
      return { next: path !== undefined && isSignInPath(path) ? undefined : path }
    },
    component: lazyPage(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in/provider',
    component: lazyPage(() => import('./provider-return-page.tsx'), 'ProviderReturnPage'),
  }),
] as const
