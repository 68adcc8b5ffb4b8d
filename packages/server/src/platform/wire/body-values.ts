/* Values that many bodies contain: ids of records, texts that people write, times, JSON objects. */
import { z } from 'zod'
import { EMAIL_LENGTH_MAX, isEmail } from '../parse-text.ts'
import { toStorableJson, toStorableText } from '../storable-text.ts'
import { recordIdSchema } from './wire-values.ts'
import { isId } from '../ids.ts'

/** The id of a record, ready for the database; whether the record exists is for the store. */
export const recordIdInput = recordIdSchema.refine(isId, 'Must be the id of a record')

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

const OBJECT_DEPTH_MAX = 16

/** A JSON object, or a text that holds one; at most `lengthMax` characters as text, and not nested deeply. */
export function jsonObjectInput(lengthMax: number) {
  return z
    .union([z.string(), z.record(z.string(), z.unknown())], {
      error: 'Must be a JSON object, or a text that holds one',
    })
    .transform((value, context) => {
      const object = typeof value === 'string' ? parseJson(value, lengthMax) : value
      const problem = findObjectProblem(object, lengthMax)
      if (problem === undefined) return toStorableJson(object as Record<string, unknown>)
      context.addIssue({ code: 'custom', message: problem })
      return z.NEVER
    })
}

function parseJson(text: string, lengthMax: number): unknown {
  if (text.length > lengthMax) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function findObjectProblem(object: unknown, lengthMax: number): string | undefined {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    return `Must be a JSON object of at most ${lengthMax} characters, or a text that holds one`
  }
  if (!isShallow(object, OBJECT_DEPTH_MAX)) {
    return `Must not be nested deeper than ${OBJECT_DEPTH_MAX} levels`
  }
  if (JSON.stringify(object).length > lengthMax) {
    return `Must be at most ${lengthMax} characters long`
  }
  return undefined
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1))
}

/** An email address as people and admins can have it, so also one that is not of ASCII. */
export const emailInput = z
  .string()
  .refine(isEmail, 'Must be an email address')
  .meta({ format: 'idn-email', maxLength: EMAIL_LENGTH_MAX })
