/** Tells whether two JSON values are equal; the order of object members does not count. */
export function isDeepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((entry, index) => isDeepEqual(entry, right[index]))
    )
  }
  if (!isObject(left) || !isObject(right)) return false
  const leftKeys = definedKeys(left)
  return (
    leftKeys.length === definedKeys(right).length &&
    leftKeys.every((key) => Object.hasOwn(right, key) && isDeepEqual(left[key], right[key]))
  )
}

function definedKeys(value: Record<string, unknown>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
