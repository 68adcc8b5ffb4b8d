import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import { texts } from './texts.ts'

/** The parts of the page of a device. */
export type DeviceTab = keyof typeof texts.tabs

export const deviceRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/devices',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./devices-page.tsx'), 'DevicesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/devices/$id',
    validateSearch: readDeviceSearch,
    component: lazyPage(() => import('./device-page.tsx'), 'DevicePage'),
  }),
] as const

interface DeviceSearch {
  readonly tab?: DeviceTab
  /** The search among check results. */
  readonly query?: string
  /** The SQL of `Ask now`, so that it can be passed on. */
  readonly sql?: string
}

function readDeviceSearch({ tab, sql, query }: Readonly<Record<string, unknown>>): DeviceSearch {
  const isTab = typeof tab === 'string' && tab in texts.tabs && tab !== 'overview'
  return {
    ...(isTab ? { tab: tab as DeviceTab } : {}),
    ...readListSearch({ query }),
    ...(typeof sql === 'string' && sql !== '' ? { sql } : {}),
  }
}
