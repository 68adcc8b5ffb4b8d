import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../shell/root-route.tsx'

export const trustedDeviceRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/trusted-device',
    validateSearch: ({ next }: Readonly<Record<string, unknown>>) =>
      typeof next === 'string' && next.startsWith('/console/') ? { next } : {},
    component: lazyRouteComponent(() => import('./trusted-device-page.tsx'), 'TrustedDevicePage'),
  }),
] as const
