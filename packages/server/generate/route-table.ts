import {
  methodsOf,
  permissionOf,
  type Method,
  type Operation,
} from '../src/platform/http/operation.ts'
import type { Feature } from '../src/schema/features.ts'
import { featureOf } from '../src/surfaces/rest/register-api.ts'

/** One line of the permission table: what a caller needs for a method and path. */
export interface RouteTableEntry {
  readonly method: Method
  readonly path: string
  /** Null for any caller, `session` for admins who are signed in alone. */
  readonly permission: string | null
  readonly feature: Feature | null
  readonly versions: readonly string[] | undefined
  readonly summary: string
}

/** The route table in the order of declaration, PUT aliases included. */
export function listRouteTable(routes: readonly Operation[]): RouteTableEntry[] {
  return routes.flatMap((route) =>
    methodsOf(route).map((method) => ({
      method,
      path: route.path,
      permission: needOf(route),
      feature: featureOf(route),
      versions: route.versions,
      summary: route.summary,
    })),
  )
}

function needOf(route: Operation): string | null {
  const { access } = route
  if (access === 'public') return 'public'
  return 'session' in access ? 'session' : permissionOf(route)
}
