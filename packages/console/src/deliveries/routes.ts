import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const deliveryRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/deliveries',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/deliveries/$kind/$ownerId/$eventId',
    component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
