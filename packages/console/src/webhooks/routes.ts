import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { readTabSearch } from '../kit/tab-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const webhookRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/new',
    component: lazyPage(() => import('./new-webhook-page.tsx'), 'NewWebhookPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/$webhookId',
    validateSearch: readTabSearch,
    component: lazyPage(() => import('./webhook-page.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/signals/webhooks/$webhookId/edit',
    component: lazyPage(() => import('./edit-webhook-page.tsx'), 'EditWebhookPage'),
  }),
] as const
