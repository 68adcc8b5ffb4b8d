/*
 * Reads what clients send as the attributes of a schema: names in any case, values in the type of the
 * attribute, everything else left out. Forgiving where real clients deviate without being ambiguous.
 */
import { toStorableText } from '../../platform/storable-text.ts'
import { badRequest } from './scim-error.ts'
import { findAttribute, type ScimAttribute } from './scim-schema.ts'

/** The attributes of a resource under the names of its schema. */
export type ScimAttributes = Record<string, unknown>

const TEXT_LENGTH_MAX = 1024

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of an object whose name is this one in any case. */
export function memberOf(body: Readonly<Record<string, unknown>>, name: string): unknown {
  const wanted = name.toLowerCase()
  return Object.entries(body).find(([key]) => key.toLowerCase() === wanted)?.[1]
}

/**
 * A request body as a JSON object of one of these schemas. A body that names no schemas is taken to be
 * of the right one.
 *
 * @throws ScimError `invalidSyntax`
 */
export function readBody(body: unknown, schema: string): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw badRequest('invalidSyntax', 'The body must be a JSON object.')
  const schemas = memberOf(body, 'schemas')
  if (schemas === undefined) return body
  const isNamed =
    Array.isArray(schemas) &&
    schemas.some((name) => typeof name === 'string' && name.toLowerCase() === schema.toLowerCase())
  if (!isNamed) throw badRequest('invalidSyntax', `"schemas" must contain ${schema}.`)
  return body
}

/**
 * The attributes that a client may set, as it sent them. Unknown and read-only ones are left out, as
 * are null, empty texts and empty lists, which mean that there is no value (RFC 7643 section 2.5).
 *
 * @throws ScimError `invalidValue` naming the attribute
 */
export function readAttributes(
  attributes: readonly ScimAttribute[],
  body: Readonly<Record<string, unknown>>,
  prefix = '',
): ScimAttributes {
  const result: ScimAttributes = {}
  for (const [name, value] of Object.entries(body)) {
    const attribute = findAttribute(attributes, name)
    if (attribute === undefined || attribute.mutability === 'readOnly') continue
    const read = readValue(attribute, value, prefix + attribute.name)
    if (read !== undefined) result[attribute.name] = read
  }
  return result
}

/**
 * A value of an attribute; undefined when it means that there is none.
 *
 * @throws ScimError `invalidValue` naming `path`
 */
export function readValue(attribute: ScimAttribute, value: unknown, path: string): unknown {
  if (!attribute.multiValued) return readSingle(attribute, unwrap(attribute, value), path)
  if (value === null || value === undefined) return undefined
  const values = (Array.isArray(value) ? value : [value])
    .map((item: unknown) => readItem(attribute, item, path))
    .filter((item) => item !== undefined)
  return values.length === 0 ? undefined : values
}

/** A value that says nothing known is a mistake: dropping it in silence would lose a member. */
function readItem(attribute: ScimAttribute, item: unknown, path: string): unknown {
  const read = readSingle(attribute, item, path)
  if (read !== undefined || item === null || item === undefined) return read
  throw badRequest('invalidValue', `A value of "${path}" has no known part.`)
}

/** Clients wrap single values as lists of one, and texts as objects with a `value`. */
function unwrap(attribute: ScimAttribute, value: unknown): unknown {
  const [only, ...others] = Array.isArray(value) ? (value as unknown[]) : [value]
  if (others.length > 0) return value
  return attribute.type !== 'complex' && isObject(only) && 'value' in only ? only['value'] : only
}

function readSingle(attribute: ScimAttribute, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return undefined
  switch (attribute.type) {
    case 'boolean':
      return readBoolean(value, path)
    case 'complex':
      return readComplex(attribute, value, path)
    case 'string':
    case 'dateTime':
    case 'reference':
      return readText(value, path)
  }
}

/** Microsoft Entra writes booleans as texts, with a capital. */
function readBoolean(value: unknown, path: string): boolean {
  const word = typeof value === 'string' ? value.toLowerCase() : value
  if (word === true || word === 'true') return true
  if (word === false || word === 'false') return false
  throw badRequest('invalidValue', `"${path}" must be true or false.`)
}

function readText(value: unknown, path: string): string | undefined {
  if (typeof value !== 'string') throw badRequest('invalidValue', `"${path}" must be a text.`)
  if (value.length > TEXT_LENGTH_MAX) {
    throw badRequest('invalidValue', `"${path}" is longer than ${TEXT_LENGTH_MAX} characters.`)
  }
  if (!value.isWellFormed()) {
    throw badRequest('invalidValue', `"${path}" must not contain lone surrogates.`)
  }
  const text = toStorableText(value.trim())
  return text === '' ? undefined : text
}

function readComplex(attribute: ScimAttribute, value: unknown, path: string): unknown {
  const parts = attribute.subAttributes ?? []
  // A bare text stands for an object whose `value` it is.
  const object =
    typeof value === 'string' && findAttribute(parts, 'value') !== undefined ? { value } : value
  if (!isObject(object)) throw badRequest('invalidValue', `"${path}" must be an object.`)
  const read = readAttributes(parts, object, `${path}.`)
  return Object.keys(read).length === 0 ? undefined : read
}
