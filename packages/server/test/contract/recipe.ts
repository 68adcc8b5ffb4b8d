import type { Method } from '../../src/platform/http/operation.ts'
import type { ContractWorld } from './contract-world.ts'

/** A request that the operation carries out. */
export interface Prepared {
  /** With real ids. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

/** How an operation is exercised. */
export interface Recipe {
  /** Makes what the request needs: called anew for each request. */
  readonly prepare: (world: ContractWorld) => Promise<Prepared> | Prepared
  /** A body that is refused; by default one with a member that does not exist. */
  readonly invalidBody?: object
  /** With what it is refused; 422 by default. */
  readonly invalidStatus?: 400
}

/** By `METHOD /path/{parameter}`, as the published document names it; PATCH stands for PUT as well. */
export type RecipeTable = Readonly<Record<`${Method} /${string}`, Recipe>>

/** The recipe of a read: a path with real ids, and what is required of the query. */
export function read(
  path: (ids: ContractWorld['ids']) => string,
  query?: (ids: ContractWorld['ids']) => Readonly<Record<string, string>>,
): Recipe {
  return {
    prepare: ({ ids }) => ({
      path: path(ids),
      ...(query === undefined ? {} : { query: query(ids) }),
    }),
  }
}
