/* Values that many bodies contain: ids of records and texts that people write. */
import { z } from 'zod'
import { toStorableText } from '../storable-text.ts'

const ID_PATTERN = /^[1-9]\d{0,17}$/

/** The id of a record, as text or as a number; read as text. */
export const recordIdInput = z
  .union([z.string().regex(ID_PATTERN), z.int().positive()], {
    error: 'Must be the id of a record',
  })
  .transform(String)

/** A text of 1 to `lengthMax` characters, trimmed, without what cannot be stored. */
export function textInput(lengthMax: number) {
  return z
    .string()
    .trim()
    .min(1, 'Must not be empty')
    .max(lengthMax, `Must be at most ${lengthMax} characters long`)
    .transform(toStorableText)
}

/** A time with its zone; read as a Date. */
export const timestampInput = z.iso
  .datetime({ offset: true, error: 'Must be an ISO 8601 time with a zone' })
  .transform((text) => new Date(text))
