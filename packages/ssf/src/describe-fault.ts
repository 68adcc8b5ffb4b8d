/*
 * Why a value was refused, in words: of every check that a schema makes and gives no words of its own
 * to. The one place for them; what the schema library says by itself never gets to anybody.
 */
import type { z } from 'zod'

type Fault = z.core.$ZodRawIssue

/** As many words as a choice is listed with. */
const CHOICES_MAX = 50

const UNKNOWN_FORM = 'has a form that is not allowed here'

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** The formats that a text can be of, and patterns, which tell nobody anything. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'an email address',
  url: 'an absolute URL',
  uuid: 'a UUID',
  datetime: 'an ISO 8601 time',
  date: 'an ISO 8601 date',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'base64',
  base64url: 'base64url',
}

/**
 * What is wrong with a value, as `must be a string`: lower case, without a full stop. It names what is
 * expected and never what was given.
 */
export function describeFault(fault: Fault): string {
  switch (fault.code) {
    case 'invalid_type':
      return describeType(fault.expected, fault.input)
    case 'invalid_value':
      return describeChoice(fault.values)
    case 'too_big':
      return describeBound(
        fault.origin,
        fault.inclusive === false ? 'less than' : 'at most',
        fault.maximum,
      )
    case 'too_small':
      return describeLowerBound(fault)
    case 'invalid_format':
      return describeFormat(fault)
    case 'not_multiple_of':
      return `must be a multiple of ${fault.divisor}`
    case 'invalid_union':
      return describeUnion(fault)
    case 'unrecognized_keys':
      return `must not have the members ${fault.keys.join(', ')}`
    default:
      return UNKNOWN_FORM
  }
}

/**
 * The faults that are worth telling. Of a value of another type that is the only one: its length is not that of what it
 * must be.
 */
export function withoutIdleFaults<Issue extends Pick<z.core.$ZodIssue, 'code' | 'path'>>(
  issues: readonly Issue[],
): Issue[] {
  const placeOf = ({ path }: Issue) => JSON.stringify(path.map(String))
  const isMistyped = ({ code }: Issue) => code === 'invalid_type'
  const mistyped = new Set(issues.filter(isMistyped).map(placeOf))
  return issues.filter((issue) => isMistyped(issue) || !mistyped.has(placeOf(issue)))
}

function describeType(expected: string, input: unknown): string {
  // Anything at all would do.
  if (expected === 'nonoptional') return 'this is required'
  const noun = NOUNS[expected] ?? `of the type ${expected}`
  return input === undefined ? `this is required: ${noun}` : `must be ${noun}`
}

function describeChoice(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value))
  const shown = words.slice(0, CHOICES_MAX).join(', ')
  if (words.length === 1) return `must be ${shown}`
  return `must be one of ${shown}${words.length > CHOICES_MAX ? ', ...' : ''}`
}

/** A union that is told apart by one member names what this may be. */
function describeUnion({ options }: Extract<Fault, { code: 'invalid_union' }>): string {
  return Array.isArray(options) ? describeChoice(options) : UNKNOWN_FORM
}

function describeLowerBound(fault: Extract<Fault, { code: 'too_small' }>): string {
  const { origin, inclusive, minimum } = fault
  const isText = origin === 'string'
  if (isText && inclusive !== false && Number(minimum) === 1) return 'must not be empty'
  return describeBound(origin, inclusive === false ? 'more than' : 'at least', minimum)
}

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['member', 'members'],
}

function describeBound(origin: string, relation: string, bound: number | bigint): string {
  const unit = UNITS[origin]
  if (unit === undefined) return `must be ${relation} ${bound}`
  const [one, many] = unit
  return `must have ${relation} ${bound} ${Number(bound) === 1 ? one : many}`
}

function describeFormat(fault: Extract<Fault, { code: 'invalid_format' }>): string {
  const name = FORMATS[fault.format]
  if (name !== undefined) return `must be ${name}`
  if (fault.format === 'starts_with') return `must begin with ${String(fault['prefix'])}`
  if (fault.format === 'ends_with') return `must end with ${String(fault['suffix'])}`
  return UNKNOWN_FORM
}
