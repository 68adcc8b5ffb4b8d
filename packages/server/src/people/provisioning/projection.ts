import { isObject, type ScimAttributes } from './read-resource.ts'
import { badRequest } from './scim-error.ts'
import { parseScimPath } from './scim-filter.ts'
import { findAttribute, type ScimResourceType } from './scim-schema.ts'

/** Which attributes an answer shows; RFC 7644 section 3.9. */
export interface Projection {
  /** Only these, in canonical names such as `name.givenName`; all when undefined. */
  readonly only: ReadonlySet<string> | undefined
  readonly without: ReadonlySet<string>
}

/** Always there: RFC 7643 section 3.1 for `id`, section 3 for `schemas`. */
const ALWAYS = ['schemas', 'id']

/**
 * Reads `attributes` and `excludedAttributes`. Names of no attribute choose nothing.
 *
 * @throws ScimError `invalidPath` for what is no name, `invalidValue` for both at once
 */
export function readProjection(
  type: ScimResourceType,
  attributes: readonly string[],
  excluded: readonly string[],
): Projection {
  if (attributes.length > 0 && excluded.length > 0) {
    throw badRequest('invalidValue', 'Send "attributes" or "excludedAttributes", not both.')
  }
  return {
    only: attributes.length === 0 ? undefined : canonicalNames(type, attributes),
    without: canonicalNames(type, excluded),
  }
}

/** Whether an attribute is shown, whole or in part. */
export function isShown({ only, without }: Projection, name: string): boolean {
  if (without.has(name)) return false
  return (
    only === undefined || [...only].some((shown) => shown === name || shown.startsWith(`${name}.`))
  )
}

/** The resource with the attributes that the projection shows. */
export function project(resource: ScimAttributes, projection: Projection): ScimAttributes {
  return Object.fromEntries(
    Object.entries(resource).flatMap(([name, value]) => {
      if (ALWAYS.includes(name)) return [[name, value]]
      if (!isShown(projection, name)) return []
      return [[name, projectParts(name, value, projection)]]
    }),
  )
}

function projectParts(name: string, value: unknown, projection: Projection): unknown {
  if (Array.isArray(value)) return value.map((item) => projectParts(name, item, projection))
  if (!isObject(value)) return value
  const { only, without } = projection
  return Object.fromEntries(
    Object.entries(value).filter(([part]) => {
      const path = `${name}.${part}`
      return !without.has(path) && (only === undefined || only.has(name) || only.has(path))
    }),
  )
}

function canonicalNames(type: ScimResourceType, names: readonly string[]): Set<string> {
  return new Set(
    names.flatMap((text) => {
      const { schema, attribute, subAttribute } = parseScimPath(text)
      if (schema !== undefined && schema.toLowerCase() !== type.schema.toLowerCase()) return []
      const found = findAttribute(type.attributes, attribute)
      if (found === undefined) return []
      if (subAttribute === undefined) return [found.name]
      const part = findAttribute(found.subAttributes ?? [], subAttribute)
      return part === undefined ? [] : [`${found.name}.${part.name}`]
    }),
  )
}
