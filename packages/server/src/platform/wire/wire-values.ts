/* Values that every resource writes in the same way: times, ids, links to records. */
import { z } from 'zod'
import { toIsoTime } from './iso-time.ts'

/** ISO 8601 UTC with milliseconds. */
export const timestampSchema = z
  .string()
  .meta({ format: 'date-time', example: '2026-01-02T03:04:05.678Z' })

/** A link to a record; `identifier` is empty and `link` null when there is none. */
export const linkSchema = z
  .object({
    identifier: z.string().describe('The id of the record; empty when there is none.'),
    link: z.string().nullable().describe('The address of the record; null when there is none.'),
  })
  .meta({ id: 'Link' })

const ID_LENGTH_MAX = 40

/** The id of a record in a body, which clients write as a text or a number; whether it exists is for the store. */
export const recordIdSchema = z
  .union([z.string().min(1).max(ID_LENGTH_MAX), z.int().positive()])
  .transform(String)

/** The wire form of a time that may be absent: null, never an empty text. */
export function toTimestamp(time: Date): string
export function toTimestamp(time: Date | null): string | null
export function toTimestamp(time: Date | null): string | null {
  return time === null ? null : toIsoTime(time)
}

/** Writes links to the records of one collection, such as `people`. */
export function toLink(
  baseUrl: string,
  collection: string,
  id: string | null,
): z.input<typeof linkSchema> {
  if (id === null) return { identifier: '', link: null }
  return { identifier: id, link: `${baseUrl}/${collection}/${id}` }
}
