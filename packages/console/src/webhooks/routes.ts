import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
] as const
