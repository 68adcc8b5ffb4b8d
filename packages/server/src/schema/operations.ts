/*
 * The declarations of the operations of this service: those of `platform/http`, which take any text as a
 * permission or a switch, bound to the permissions and switches that exist. Whoever declares a route imports
 * it from here.
 */
import {
  listRecords as listRecordsOfAnyWords,
  listRoute as listRouteOfAnyWords,
  showRecord as showRecordOfAnyWords,
  type ListRecords,
  type ListRoute,
  type ShowRecord,
} from '../platform/http/list-route.ts'
import { route as routeOfAnyWords, type Route } from '../platform/http/route.ts'
import type { Feature } from './features.ts'
import type { Permission } from './permissions.ts'

export { loadRecords } from '../platform/http/list-route.ts'
export {
  answer,
  gzipFile,
  noContent,
  streamedText,
  toAnswer,
  type ApiRoute,
  type DefaultParams,
  type RouteContext,
  type RouteResult,
  type RouteShape,
} from '../platform/http/route.ts'

/** Declares a route; the top of `platform/http/route.ts` says how. */
export const route: Route<Permission, Feature> = routeOfAnyWords

/** Declares a list; the top of `platform/http/list-route.ts` says how. */
export const listRoute: ListRoute<Permission, Feature> = listRouteOfAnyWords

/** Lists the records of a resource; the top of `platform/http/list-route.ts` says how. */
export const listRecords: ListRecords<Permission, Feature> = listRecordsOfAnyWords

/** Shows a record of a resource; the top of `platform/http/list-route.ts` says how. */
export const showRecord: ShowRecord<Permission, Feature> = showRecordOfAnyWords
