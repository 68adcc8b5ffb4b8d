import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { toNextPage, type NextPage } from '../shell/next-page.ts'
import { rootRoute } from '../shell/root-route.tsx'

export const trustedDeviceRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/trusted-device',
    validateSearch: ({ next }: Readonly<Record<string, unknown>>): NextPage => ({
      next: toNextPage(next),
    }),
    component: lazyPage(() => import('./trusted-device-page.tsx'), 'TrustedDevicePage'),
  }),
] as const
