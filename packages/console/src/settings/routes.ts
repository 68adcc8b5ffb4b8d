import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/settings',
    validateSearch: readListSearch,
    component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
  }),
] as const
