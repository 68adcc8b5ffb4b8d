/*
 * `expand`: the records that links lead to, in the same answer. A resource names what can be expanded
 * and how the records behind a set of ids are read at once; routes hand that over and nothing else.
 */
import { z } from 'zod'
import { linkSchema } from '../wire/wire-values.ts'

/** The wire form of the records with these ids, by id. An id without a record is left out. */
export type LoadRecords = (ids: readonly string[]) => Promise<ReadonlyMap<string, object>>

/** One thing that can be expanded. */
export interface Expansion {
  /** The member that leads to the record: a link, a list of links, or an id. */
  readonly member: string
  /** The member that takes the record of an id; a link takes its record itself. */
  readonly into?: string
  readonly load: LoadRecords
}

/** What can be expanded in a resource, by the name that requests use. */
export type Expansions = Readonly<Record<string, Expansion>>

/** The schema of a link that can carry the record it leads to. */
export function linkTo<Schema extends z.ZodType>(record: Schema, id: string) {
  return linkSchema.extend({ record: expanded(record) }).meta({ id })
}

/** The schema of a member that is there only when it was asked for. */
export function expanded<Schema extends z.ZodType>(record: Schema) {
  return record
    .optional()
    .describe('The record itself: only with `expand`, and only while it exists.')
}

/** The `expand` parameter of a route. Refuses what cannot be expanded, naming what can. */
export function expandQuery(expansions: Expansions) {
  const allowed = Object.keys(expansions)
  return z.object({
    expand: z
      .string()
      .superRefine((text, context) => {
        const unknown = readNames(text).filter((name) => !allowed.includes(name))
        if (unknown.length === 0) return
        const names = unknown.map((name) => `"${name}"`).join(', ')
        const message = `${names} cannot be expanded here. Allowed: ${allowed.join(', ')}.`
        context.addIssue({ code: 'custom', message })
      })
      .optional()
      .meta({
        description: `Puts linked records into the answer, joined with commas: ${allowed.join(', ')}.`,
        example: allowed.join(','),
      }),
  })
}

/** The records with what was asked for put in; one read per name, however many records there are. */
export async function expandRecords(
  records: readonly object[],
  asked: string | undefined,
  expansions: Expansions,
): Promise<object[]> {
  const chosen = [...new Set(readNames(asked ?? ''))].flatMap((name) => expansions[name] ?? [])
  const loaded = await Promise.all(
    chosen.map(async (expansion) => {
      const ids = [...new Set(records.flatMap((record) => idsIn(memberOf(record, expansion))))]
      const found = ids.length === 0 ? new Map<string, object>() : await expansion.load(ids)
      return { expansion, found }
    }),
  )
  return records.map((record) =>
    loaded.reduce<object>(
      (expandedSoFar, { expansion, found }) => putInto(expandedSoFar, expansion, found),
      record,
    ),
  )
}

function readNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function memberOf(record: object, { member }: Expansion): unknown {
  return (record as Readonly<Record<string, unknown>>)[member]
}

function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  const id = isLink(value) ? value.identifier : value
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? [String(id)] : []
}

function putInto(record: object, expansion: Expansion, found: ReadonlyMap<string, object>): object {
  const { member, into } = expansion
  const value = memberOf(record, expansion)
  if (into === undefined) return { ...record, [member]: fillLinks(value, found) }
  const target = idsIn(value).flatMap((id) => found.get(id) ?? [])[0]
  return target === undefined ? record : { ...record, [into]: target }
}

function fillLinks(value: unknown, found: ReadonlyMap<string, object>): unknown {
  if (Array.isArray(value)) return value.map((link: unknown) => fillLinks(link, found))
  const record = isLink(value) ? found.get(String(value.identifier)) : undefined
  return isLink(value) && record !== undefined ? { ...value, record } : value
}

function isLink(value: unknown): value is { readonly identifier: unknown } {
  return typeof value === 'object' && value !== null && 'identifier' in value
}
