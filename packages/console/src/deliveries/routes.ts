import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const deliveryRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/deliveries',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/deliveries/$kind/$ownerId/$eventId',
    component: lazyPage(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
