import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../kit/lazy-part.tsx'
import { readListSearch } from '../kit/list-search.ts'
import { frameRoute } from '../shell/root-route.tsx'
import type { texts } from './texts.ts'

/** The parts of the page of a live query. */
export type LiveQueryTab = keyof typeof texts.tabs

export const liveQueryRoutes = [
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/live-queries',
    validateSearch: readListSearch,
    component: lazyPage(() => import('./live-queries-page.tsx'), 'LiveQueriesPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/live-queries/new',
    component: lazyPage(() => import('./edit-query-page.tsx'), 'NewQueryPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/live-queries/$id',
    validateSearch: readQuerySearch,
    component: lazyPage(() => import('./live-query-page.tsx'), 'LiveQueryPage'),
  }),
  createRoute({
    getParentRoute: () => frameRoute,
    path: '/live-queries/$id/edit',
    component: lazyPage(() => import('./edit-query-page.tsx'), 'EditQueryPage'),
  }),
] as const

const STATES = ['waiting', 'successful', 'errored'] as const

interface QuerySearch {
  readonly tab?: LiveQueryTab
  /** Which devices are shown. */
  readonly state?: (typeof STATES)[number]
}

function readQuerySearch({ tab, state }: Readonly<Record<string, unknown>>): QuerySearch {
  const known = STATES.find((each) => each === state)
  return {
    ...(tab === 'devices' || tab === 'query' ? { tab } : {}),
    ...(known === undefined ? {} : { state: known }),
  }
}
