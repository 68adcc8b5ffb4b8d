/*
 * The syntax tree that PostgreSQL's grammar makes of a text, as JSON, and how its nodes are read. Knows
 * nothing of what is allowed.
 */
import { AppError } from '../../../platform/app-error.ts'

/** A value of the tree. A node stands in an object of one member, which names its kind. */
export type Json = string | number | boolean | null | Json[] | Members

/** The members of a node; those that are zero, false or empty are left out. */
export interface Members {
  [name: string]: Json
}

/** A node and its kind, such as `ColumnRef`. */
export interface SqlNode {
  readonly kind: string
  readonly members: Members
}

/**
 * The refusal of a reporting query; `message` follows the word "sql".
 *
 * @returns AppError `invalid_body`
 */
export function refusedSql(message: string): AppError {
  return new AppError('invalid_body', `sql ${message}.`, {
    details: [{ path: 'sql', message }],
  })
}

/** @throws AppError `invalid_body` for what is no node */
export function readNode(value: Json | undefined): SqlNode {
  const members = readMembers(value)
  const [kind, ...others] = Object.keys(members)
  if (kind === undefined || others.length > 0) throw refusedSql('must not use this syntax')
  return { kind, members: readMembers(members[kind]) }
}

/** @throws AppError `invalid_body` for what has no members */
export function readMembers(value: Json | undefined): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw refusedSql('must not use this syntax')
}

/** The items of a list; none where the list is left out. */
export function readList(value: Json | undefined): readonly Json[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw refusedSql('must not use this syntax')
}

/** A text; an empty one where it is left out or something else. */
export function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The words of a name of several parts, such as `{pg_catalog, int4}`; an empty word for a part that is none. */
export function readWords(value: Json | undefined): string[] {
  return readList(value).map((part) => {
    const { kind, members } = readNode(part)
    return kind === 'String' ? readText(members['sval']) : ''
  })
}
