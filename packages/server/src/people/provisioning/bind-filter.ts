import { toStorableText } from '../../platform/storable-text.ts'
import { badRequest } from './scim-error.ts'
import type { CompareOperator, ScimAttributePath, ScimFilter, ScimLiteral } from './scim-filter.ts'
import { findAttribute, type ScimAttribute } from './scim-schema.ts'

export type BoundOperator = Exclude<CompareOperator, 'ne'>

export type BoundValue = string | boolean | Date

/**
 * A filter whose names are attributes of a schema, in the spelling of the schema: `name.givenName`, or
 * inside `some` the name of a part. Every condition is true or false, never unknown: an absent
 * attribute equals nothing, so `ne` holds for it.
 */
export type BoundFilter =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly BoundFilter[] }
  | { readonly kind: 'not'; readonly operand: BoundFilter }
  | {
      readonly kind: 'compare'
      readonly key: string
      readonly operator: BoundOperator
      readonly value: BoundValue
      readonly caseExact: boolean
    }
  | { readonly kind: 'present'; readonly key: string }
  /** Some value of a multi-valued attribute meets the condition; any value when there is none. */
  | { readonly kind: 'some'; readonly key: string; readonly condition: BoundFilter | undefined }

/** What the names of a filter may mean. */
export interface FilterScope {
  readonly attributes: readonly ScimAttribute[]
  /** The schema that names may be qualified with; none inside the brackets of a value filter. */
  readonly schema?: string
  /** Whether a name of these types is known too, as an attribute without a value. RFC 7644 section 3.4.2.1. */
  readonly others?: readonly FilterScope[]
}

/** What nothing meets. */
const NEVER: BoundFilter = { kind: 'or', operands: [] }

/**
 * Resolves the names of a filter and checks each operator and value against the type of the attribute.
 *
 * @throws ScimError `invalidFilter`
 */
export function bindFilter(filter: ScimFilter, scope: FilterScope): BoundFilter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return {
        kind: filter.kind,
        operands: filter.operands.map((operand) => bindFilter(operand, scope)),
      }
    case 'not':
      return { kind: 'not', operand: bindFilter(filter.operand, scope) }
    case 'present':
    case 'compare':
    case 'value':
      return bindOnValue(filter, scope)
  }
}

function bindOnValue(
  filter: Exclude<ScimFilter, { readonly kind: 'and' | 'or' | 'not' }>,
  scope: FilterScope,
): BoundFilter {
  const other = isKnown(filter.path, scope)
    ? undefined
    : scope.others?.find((each) => isKnown(filter.path, each))
  if (other !== undefined) {
    // Refused in the same way as where it has a value.
    bindOnValue(filter, other)
    return isMetByNothing(filter) ? { kind: 'not', operand: NEVER } : NEVER
  }
  switch (filter.kind) {
    case 'present':
      return bindPresence(filter.path, scope)
    case 'compare':
      return bindComparison(filter.path, filter.operator, filter.value, scope)
    case 'value':
      return bindValueFilter(filter.path, filter.filter, scope)
  }
}

/** An absent attribute equals null and nothing else. */
function isMetByNothing(filter: ScimFilter): boolean {
  if (filter.kind !== 'compare') return false
  return filter.value === null ? filter.operator === 'eq' : filter.operator === 'ne'
}

function isKnown(path: ScimAttributePath, scope: FilterScope): boolean {
  return findName(path, scope) !== undefined
}

interface ResolvedName {
  readonly attribute: ScimAttribute
  readonly part: ScimAttribute | undefined
}

function resolveName(path: ScimAttributePath, scope: FilterScope): ResolvedName {
  const found = findName(path, scope)
  if (found === undefined) throw unknownName(path)
  return found
}

function findName(path: ScimAttributePath, scope: FilterScope): ResolvedName | undefined {
  const isForeign =
    path.schema !== undefined && path.schema.toLowerCase() !== scope.schema?.toLowerCase()
  const attribute = isForeign ? undefined : findAttribute(scope.attributes, path.attribute)
  if (attribute === undefined) return undefined
  if (path.subAttribute === undefined) return { attribute, part: undefined }
  const part = findAttribute(attribute.subAttributes ?? [], path.subAttribute)
  return part === undefined ? undefined : { attribute, part }
}

function bindPresence(path: ScimAttributePath, scope: FilterScope): BoundFilter {
  const { attribute, part } = resolveName(path, scope)
  const { name, subAttributes = [] } = attribute
  if (attribute.multiValued) {
    const condition: BoundFilter | undefined = part && { kind: 'present', key: part.name }
    return { kind: 'some', key: name, condition }
  }
  if (part !== undefined) return { kind: 'present', key: `${name}.${part.name}` }
  if (attribute.type !== 'complex') return { kind: 'present', key: name }
  return {
    kind: 'or',
    operands: subAttributes.map((sub) => ({ kind: 'present', key: `${name}.${sub.name}` })),
  }
}

function bindComparison(
  path: ScimAttributePath,
  operator: CompareOperator,
  literal: ScimLiteral,
  scope: FilterScope,
): BoundFilter {
  if (literal === null) {
    if (operator !== 'eq' && operator !== 'ne') {
      throw badRequest('invalidFilter', `The operator ${operator} does not compare with null.`)
    }
    const presence = bindPresence(path, scope)
    return operator === 'ne' ? presence : { kind: 'not', operand: presence }
  }
  const { attribute, part } = resolveName(path, scope)
  const target = part ?? simpleTarget(attribute)
  const isPart = target !== attribute
  const key = isPart && !attribute.multiValued ? `${attribute.name}.${target.name}` : target.name
  const compare = toComparison(key, target, operator, literal)
  return attribute.multiValued ? { kind: 'some', key: attribute.name, condition: compare } : compare
}

/** Of a multi-valued complex attribute, its `value` is compared. */
function simpleTarget(attribute: ScimAttribute): ScimAttribute {
  if (attribute.type !== 'complex') return attribute
  const value = attribute.multiValued
    ? findAttribute(attribute.subAttributes ?? [], 'value')
    : undefined
  if (value !== undefined) return value
  throw badRequest(
    'invalidFilter',
    `"${attribute.name}" has parts; name one of them, such as ${attribute.name}.${attribute.subAttributes?.[0]?.name ?? ''}.`,
  )
}

function toComparison(
  key: string,
  attribute: ScimAttribute,
  operator: CompareOperator,
  literal: Exclude<ScimLiteral, null>,
): BoundFilter {
  const value = toValue(attribute, operator, literal)
  const { caseExact } = attribute
  return operator === 'ne'
    ? { kind: 'not', operand: { kind: 'compare', key, operator: 'eq', value, caseExact } }
    : { kind: 'compare', key, operator, value, caseExact }
}

const TEXT_OPERATORS = ['co', 'sw', 'ew']

function toValue(
  attribute: ScimAttribute,
  operator: CompareOperator,
  literal: Exclude<ScimLiteral, null>,
): BoundValue {
  const { name, type } = attribute
  if (type === 'boolean') {
    const value = typeof literal === 'string' ? literal.toLowerCase() : String(literal)
    if (operator !== 'eq' && operator !== 'ne') throw wrongOperator(name, operator)
    if (value === 'true' || value === 'false') return value === 'true'
    throw badRequest('invalidFilter', `"${name}" compares with true and false.`)
  }
  if (typeof literal !== 'string') {
    throw badRequest('invalidFilter', `"${name}" compares with a quoted value.`)
  }
  if (type !== 'dateTime') return toStorableText(literal)
  if (TEXT_OPERATORS.includes(operator)) throw wrongOperator(name, operator)
  const time = new Date(literal)
  if (!DATE_TIME.test(literal) || Number.isNaN(time.getTime())) {
    throw badRequest(
      'invalidFilter',
      `"${name}" compares with a time such as "2026-01-02T03:04:05Z".`,
    )
  }
  return time
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

function bindValueFilter(
  path: ScimAttributePath,
  filter: ScimFilter,
  scope: FilterScope,
): BoundFilter {
  const { attribute, part } = resolveName(path, scope)
  if (!attribute.multiValued || part !== undefined) {
    throw badRequest('invalidFilter', `"${attribute.name}" has no values to choose from.`)
  }
  const condition = bindFilter(filter, { attributes: attribute.subAttributes ?? [] })
  return { kind: 'some', key: attribute.name, condition }
}

function wrongOperator(name: string, operator: string): Error {
  return badRequest('invalidFilter', `The operator ${operator} does not apply to "${name}".`)
}

function unknownName({ schema, attribute, subAttribute }: ScimAttributePath): Error {
  const name = [attribute, subAttribute].filter((part) => part !== undefined).join('.')
  const whole = schema === undefined ? name : `${schema}:${name}`
  return badRequest('invalidFilter', `"${whole}" is no attribute that can be filtered by.`)
}
