/**
 * Rows as personas and posture knobs write them: text may name the person and home of the device,
 * times may be relative. They become stored rows when they are applied to a device.
 */
import type { Cell, RowChange, StoredRow, TableRows } from '../sql/platform-database.ts'

/** A stored value, or a second of the epoch that lies so many seconds in the past. */
export type TemplateCell = Cell | { readonly secondsAgo: number }

/** A row whose text may hold `{user}`, `{name}`, `{home}`, `{uid}` and `{sid}`. */
export type TemplateRow = Readonly<Record<string, TemplateCell>>

export type TemplateTables = Readonly<Record<string, readonly TemplateRow[]>>

/** Distributions differ in where the same thing shows up. */
export type Flavor = 'macos' | 'windows' | 'ubuntu' | 'fedora'

/** A change of template rows; with `flavor` it applies to devices of that flavour only. */
export type TemplateChange = { readonly flavor?: Flavor } & (
  | {
      readonly kind: 'set'
      readonly table: string
      readonly to: TemplateRow
      readonly where: TemplateRow
    }
  | {
      readonly kind: 'put'
      readonly table: string
      readonly row: TemplateRow
      readonly key: readonly string[]
    }
  | { readonly kind: 'remove'; readonly table: string; readonly where: TemplateRow }
)

/** Whose device it is. */
export interface DevicePerson {
  readonly flavor: Flavor
  readonly username: string
  readonly fullName: string
  readonly uid: number
  readonly home: string
  /** The Windows security identifier; empty elsewhere. */
  readonly sid: string
}

/** Rows from a list of column names and one list of values per row. */
export function rowsOf(columns: string, ...values: readonly TemplateCell[][]): TemplateRow[] {
  const names = columns.split(' ')
  return values.map((cells) =>
    Object.fromEntries(names.map((name, index) => [name, cells[index] ?? null])),
  )
}

/** Sets columns of the rows that match. */
export function set(table: string, to: TemplateRow, where: TemplateRow = {}): TemplateChange {
  return { kind: 'set', table, to, where }
}

/** Makes sure that one row exists; `key` names the columns that tell it from others. */
export function put(table: string, row: TemplateRow, ...key: string[]): TemplateChange {
  return { kind: 'put', table, row, key }
}

/** Removes the rows that match. */
export function remove(table: string, where: TemplateRow): TemplateChange {
  return { kind: 'remove', table, where }
}

/** The same changes, for one flavour only. */
export function only(flavor: Flavor, ...changes: TemplateChange[]): TemplateChange[] {
  return changes.map((change) => ({ ...change, flavor }))
}

function resolveText(text: string, person: DevicePerson): string {
  if (!text.includes('{')) return text
  return text
    .replaceAll('{user}', person.username)
    .replaceAll('{name}', person.fullName)
    .replaceAll('{home}', person.home)
    .replaceAll('{uid}', String(person.uid))
    .replaceAll('{sid}', person.sid)
}

function resolveRow(row: TemplateRow, person: DevicePerson, nowSeconds: number): StoredRow {
  const cells = Object.entries(row).map(([name, cell]): [string, Cell] => {
    if (typeof cell === 'string') return [name, resolveText(cell, person)]
    if (typeof cell === 'object' && cell !== null) return [name, nowSeconds - cell.secondsAgo]
    return [name, cell]
  })
  return Object.fromEntries(cells)
}

/** The rows as they are stored for a device of this person. */
export function resolveTables(
  tables: TemplateTables,
  person: DevicePerson,
  nowSeconds: number,
): TableRows {
  const resolved = Object.entries(tables).map(([table, rows]): [string, StoredRow[]] => [
    table,
    rows.map((row) => resolveRow(row, person, nowSeconds)),
  ])
  return Object.fromEntries(resolved)
}

/** The changes that apply to a device of this person's flavour, as they are stored. */
export function resolveChanges(
  changes: readonly TemplateChange[],
  person: DevicePerson,
  nowSeconds: number,
): RowChange[] {
  return changes
    .filter(({ flavor }) => flavor === undefined || flavor === person.flavor)
    .map((change) => {
      const { table } = change
      switch (change.kind) {
        case 'set': {
          const to = resolveRow(change.to, person, nowSeconds)
          return { kind: 'set', table, to, where: resolveRow(change.where, person, nowSeconds) }
        }
        case 'put':
          return {
            kind: 'put',
            table,
            row: resolveRow(change.row, person, nowSeconds),
            key: change.key,
          }
        case 'remove':
          return { kind: 'remove', table, where: resolveRow(change.where, person, nowSeconds) }
      }
    })
}

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 60 * MINUTE_SECONDS
const DAY_SECONDS = 24 * HOUR_SECONDS

/** A time so many days in the past. */
export function daysAgo(days: number): { readonly secondsAgo: number } {
  return { secondsAgo: Math.round(days * DAY_SECONDS) }
}
