import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const settingsRoutes = [
  createRoute({
    getParentRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/developers',
    component: lazyRouteComponent(() => import('./developers-page.tsx'), 'FirstDevelopersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/developers/$tab',
    component: lazyRouteComponent(() => import('./developers-page.tsx'), 'DevelopersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/organisation',
    component: lazyRouteComponent(() => import('./organisation-page.tsx'), 'OrganisationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/scim',
    component: lazyRouteComponent(() => import('./scim-page.tsx'), 'ScimPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/retention',
    component: lazyRouteComponent(() => import('./retention-page.tsx'), 'RetentionPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/enrollment',
    validateSearch: readListSearch,
    component: lazyRouteComponent(
      () => import('../enrollment/enrollment-page.tsx'),
      'EnrollmentPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/admins',
    component: lazyRouteComponent(() => import('../admins/admins-page.tsx'), 'AdminsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/admins/$id',
    component: lazyRouteComponent(() => import('../admins/admin-page.tsx'), 'AdminPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/identity-provider',
    component: lazyRouteComponent(
      () => import('../identity-provider/identity-provider-page.tsx'),
      'IdentityProviderPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/account',
    component: lazyRouteComponent(() => import('../sign-in/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/api-keys/$id',
    component: lazyRouteComponent(() => import('../api-keys/api-key-page.tsx'), 'ApiKeyPage'),
  }),
] as const
