import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/new',
    component: lazyRouteComponent(() => import('./new-webhook-page.tsx'), 'NewWebhookPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/$webhookId',
    validateSearch: readTabSearch,
    component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/$webhookId/edit',
    component: lazyRouteComponent(() => import('./edit-webhook-page.tsx'), 'EditWebhookPage'),
  }),
] as const
