import { InvalidArgumentError } from 'commander'
import { isId } from '../platform/ids.ts'
import { parseTimestamp } from '../platform/search/search-value.ts'
import { toStorableText } from '../platform/storable-text.ts'
import { RESTRICTION_NAMES, type Restriction } from '../schema/access-levels.ts'
import type { GrantedPermission } from '../organisation/api-keys/api-key-store.ts'

/** `<name>=<rationale>`. */
export function parsePermission(text: string): GrantedPermission {
  const separator = text.indexOf('=')
  if (separator < 1) {
    throw new InvalidArgumentError(
      'Give the permission and why the key needs it: "Remove Devices=cleans up after offboarding".',
    )
  }
  return { permission: text.slice(0, separator).trim(), rationale: text.slice(separator + 1) }
}

/** The name of a restriction, or `none`. */
export function parseRestriction(text: string): Restriction | 'none' {
  const name = text === 'none' ? text : RESTRICTION_NAMES.find((each) => each === text)
  if (name !== undefined) return name
  throw new InvalidArgumentError(`Give none, or one of ${RESTRICTION_NAMES.join(', ')}.`)
}

/** A date or date and time of ISO 8601, as searches take it: in UTC where it names no offset. */
export function parseTime(text: string): Date {
  const time = parseTimestamp(text)
  if (time !== undefined) return time
  throw new InvalidArgumentError('Give a time such as 2030-01-31 or 2030-01-31T12:00:00Z.')
}

/** A text of 1 to `max` characters, trimmed and as it can be stored. */
export function parseText(max: number) {
  return (text: string): string => {
    const value = toStorableText(text.trim())
    if (value.length > 0 && value.length <= max) return value
    throw new InvalidArgumentError(`Give 1 to ${max} characters.`)
  }
}

/** The id of a record. */
export function parseId(text: string): string {
  if (isId(text)) return text
  throw new InvalidArgumentError('Give the id of a record, a whole number from 1 on.')
}

/** A whole number between two bounds. */
export function parseWhole(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
  }
}

/** `on` or `off`. */
export function parseSwitch(text: string): boolean {
  if (text === 'on') return true
  if (text === 'off') return false
  throw new InvalidArgumentError('Give on or off.')
}

/** A share of a whole, from 0 to 1. */
export function parseShare(text: string): number {
  const value = Number(text)
  if (/^\d*\.?\d+$/.test(text) && value <= 1) return value
  throw new InvalidArgumentError('Give a number from 0 to 1.')
}
