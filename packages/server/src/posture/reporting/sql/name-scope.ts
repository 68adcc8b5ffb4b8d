/*
 * Which relations and columns a name can mean at a place of a query, as PostgreSQL looks them up: from the
 * innermost query outwards. It matters that both find the same: where PostgreSQL finds no column it takes
 * `relation.name` for a call of the function `name`.
 */
import { readMembers, readText, readWords, type Json } from './sql-tree.ts'

/** The names of output columns in their order; empty for one that cannot be named. */
export type Columns = readonly string[]

/** What an item of FROM brings along. */
export interface FromItem {
  /** The relations that can be named before a dot. */
  readonly relations: ReadonlyMap<string, Columns>
  /** What `*` stands for, and what can be named without a relation. */
  readonly columns: Columns
}

/** The columns that a query sees by itself, within those of the queries around it. */
export interface ColumnScope {
  readonly items: readonly FromItem[]
  /** Names of output columns, where the clause may use them. */
  readonly outputs?: Columns
  readonly outer: ColumnScope | undefined
}

/** What names of relations mean. */
export type TableScope = ReadonlyMap<string, Columns>

/** A place in the query. */
export interface Place {
  readonly columns: ColumnScope | undefined
  readonly tables: TableScope
  /** How many nodes stand around it. */
  readonly depth: number
}

/** Whether a name without a dot is a column of this query or of one around it, of which the name is known. */
export function isColumn(scope: ColumnScope | undefined, name: string): boolean {
  for (let each = scope; each !== undefined; each = each.outer) {
    if (each.outputs?.includes(name) === true) return true
    if (each.items.some(({ columns }) => columns.includes(name))) return true
  }
  return false
}

/** Whether there is a column here whose name only PostgreSQL knows, such as `text` of `select 'x'::text`. */
export function hasUnnamedColumn(scope: ColumnScope | undefined): boolean {
  for (let each = scope; each !== undefined; each = each.outer) {
    if (each.items.some(({ columns }) => columns.includes(''))) return true
  }
  return false
}

/** The columns of the relation that a name before a dot means; undefined when it means none. */
export function findRelation(scope: ColumnScope | undefined, name: string): Columns | undefined {
  for (let each = scope; each !== undefined; each = each.outer) {
    for (const { relations } of each.items) {
      const columns = relations.get(name)
      if (columns !== undefined) return columns
    }
  }
  return undefined
}

/** An item of FROM under its name or its alias, which may name columns too. */
export function namedItem(name: string, columns: Columns, alias: Json | undefined): FromItem {
  if (alias === undefined) return toItem(name, columns)
  const { aliasname, colnames } = readMembers(alias)
  return toItem(readText(aliasname), renameColumns(columns, readWords(colnames)))
}

function toItem(name: string, columns: Columns): FromItem {
  return { relations: new Map(name === '' ? [] : [[name, columns]]), columns }
}

/** The first columns under other names. */
export function renameColumns(columns: Columns, names: readonly string[]): Columns {
  return [...names, ...columns.slice(names.length)]
}
