import type { BoundFilter, BoundOperator, BoundValue } from './bind-filter.ts'

/** Whether a resource, or one value of a multi-valued attribute, meets a filter. */
export function evaluateFilter(
  filter: BoundFilter,
  resource: Readonly<Record<string, unknown>>,
): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.operands.every((operand) => evaluateFilter(operand, resource))
    case 'or':
      return filter.operands.some((operand) => evaluateFilter(operand, resource))
    case 'not':
      return !evaluateFilter(filter.operand, resource)
    case 'present':
      return isPresent(read(resource, filter.key))
    case 'compare':
      return compare(read(resource, filter.key), filter.operator, filter.value, filter.caseExact)
    case 'some': {
      const { condition } = filter
      const values = read(resource, filter.key)
      return (
        Array.isArray(values) &&
        values.some(
          (value) => condition === undefined || evaluateFilter(condition, toRecord(value)),
        )
      )
    }
  }
}

function read(resource: Readonly<Record<string, unknown>>, key: string): unknown {
  return key.split('.').reduce<unknown>((value, name) => toRecord(value)[name], resource)
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function compare(
  actual: unknown,
  operator: BoundOperator,
  expected: BoundValue,
  caseExact: boolean,
): boolean {
  if (typeof expected === 'boolean') return actual === expected
  if (typeof actual !== 'string') return false
  if (expected instanceof Date) {
    return compareOrdered(new Date(actual).getTime(), operator, expected.getTime())
  }
  const [left, right] = caseExact
    ? [actual, expected]
    : [actual.toLowerCase(), expected.toLowerCase()]
  switch (operator) {
    case 'co':
      return left.includes(right)
    case 'sw':
      return left.startsWith(right)
    case 'ew':
      return left.endsWith(right)
    default:
      return compareOrdered(left, operator, right)
  }
}

function compareOrdered<Value extends string | number>(
  left: Value,
  operator: BoundOperator,
  right: Value,
): boolean {
  switch (operator) {
    case 'eq':
      return left === right
    case 'gt':
      return left > right
    case 'ge':
      return left >= right
    case 'lt':
      return left < right
    case 'le':
      return left <= right
    default:
      return false
  }
}
