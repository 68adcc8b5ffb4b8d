import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'

const getParentRoute = () => frameRoute

export const settingsRoutes = [
  createRoute({
    getParentRoute,
    path: '/settings',
    component: lazyPage(() => import('./settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/developers',
    component: lazyPage(() => import('./developers-page.tsx'), 'FirstDevelopersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/developers/$tab',
    component: lazyPage(() => import('./developers-page.tsx'), 'DevelopersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/organisation',
    component: lazyPage(() => import('./organisation-page.tsx'), 'OrganisationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/scim',
    component: lazyPage(() => import('./scim-page.tsx'), 'ScimPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/retention',
    component: lazyPage(() => import('./retention-page.tsx'), 'RetentionPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/enrollment',
    validateSearch: readListSearch,
    component: lazyPage(() => import('../enrollment/enrollment-page.tsx'), 'EnrollmentPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/admins',
    component: lazyPage(() => import('../admins/admins-page.tsx'), 'AdminsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/admins/$id',
    component: lazyPage(() => import('../admins/admin-page.tsx'), 'AdminPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/identity-provider',
    component: lazyPage(
      () => import('../identity-provider/identity-provider-page.tsx'),
      'IdentityProviderPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/account',
    component: lazyPage(() => import('../sign-in/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/api-keys/$id',
    component: lazyPage(() => import('../api-keys/api-key-page.tsx'), 'ApiKeyPage'),
  }),
] as const
