/*
 * The declarations of the operations of this service: those of `platform/http`, which take any text as a
 * permission or a switch, bound to the permissions and switches that exist. Whoever declares a route imports
 * it from here.
 */
import { listRoute as listRouteOfAnyWords, type ListRoute } from '../platform/http/list-route.ts'
import { route as routeOfAnyWords, type Route } from '../platform/http/route.ts'
import type { Feature } from './features.ts'
import type { Permission } from './permissions.ts'

export {
  answer,
  gzipFile,
  noContent,
  type ApiRoute,
  type RouteContext,
} from '../platform/http/route.ts'

/** Declares a route; the top of `platform/http/route.ts` says how. */
export const route: Route<Permission, Feature> = routeOfAnyWords

/** Declares a list; the top of `platform/http/list-route.ts` says how. */
export const listRoute: ListRoute<Permission, Feature> = listRouteOfAnyWords
