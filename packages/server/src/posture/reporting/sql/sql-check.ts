import type { Columns, Place } from './name-scope.ts'
import { refusedSql, type Json, type Members } from './sql-tree.ts'

/** The checks of the parts of a query, which contain one another. Each throws AppError `invalid_body`. */
export interface SqlCheck {
  readonly expression: (value: Json, place: Place) => void
  /** Answers the output columns of the SELECT. */
  readonly select: (members: Members, place: Place) => Columns
}

/** Nodes within nodes: far less than a parser or a server can take, far more than anybody writes. */
const DEPTH_MAX = 200

/** @throws AppError `invalid_body` for a place that is too deep */
export function enter(place: Place): Place {
  if (place.depth >= DEPTH_MAX) throw nestedTooDeeply()
  return { ...place, depth: place.depth + 1 }
}

/** The refusal of SQL that nests deeper than it may. */
export function nestedTooDeeply(): Error {
  return refusedSql(
    `must not nest deeper than ${DEPTH_MAX} levels, chains of operators and of set operations included`,
  )
}

/** @throws AppError `invalid_body` for members beyond those that are known */
export function allowMembers(kind: string, members: Members, known: ReadonlySet<string>): void {
  const unknown = Object.keys(members).find((name) => !known.has(name))
  if (unknown !== undefined) throw refusedSql(`must not use ${unknown} of ${kind}`)
}
