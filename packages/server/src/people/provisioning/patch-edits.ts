/*
 * What a PATCH request asks for (RFC 7644 section 3.5.2), as a list of edits of single attributes. The
 * dialects of the clients end here: operations in capitals, objects without a path, dotted and qualified
 * names as members of such objects. Own code, because scim-patch and scimmy fail on these dialects
 * (docs/adr/0008-libraries.md).
 */
import { bindFilter, type BoundFilter } from './bind-filter.ts'
import { isObject, memberOf, readBody } from './read-resource.ts'
import { badRequest, ScimError } from './scim-error.ts'
import { parseScimPath, type ScimPath } from './scim-filter.ts'
import {
  findAttribute,
  PATCH_SCHEMA,
  type ScimAttribute,
  type ScimResourceType,
} from './scim-schema.ts'

export type PatchVerb = 'add' | 'replace' | 'remove'

/** One change of one attribute, or of a part of it. */
export interface PatchEdit {
  readonly verb: PatchVerb
  readonly attribute: ScimAttribute
  /** The part of a complex attribute; the whole attribute when undefined. */
  readonly part: ScimAttribute | undefined
  /** Only these values of a multi-valued attribute. */
  readonly filter: BoundFilter | undefined
  /** As it was sent, not yet read. */
  readonly value: unknown
  /** How the client named the target. */
  readonly path: string
}

const OPERATIONS_MAX = 1000
const VERBS: readonly PatchVerb[] = ['add', 'replace', 'remove']

interface Operation {
  readonly verb: PatchVerb
  readonly path: string | undefined
  readonly value: unknown
}

/**
 * The edits of a PATCH body, in their order. Attributes that the service takes and drops yield none.
 *
 * @throws ScimError `invalidSyntax`, `invalidPath`, `noTarget`, `mutability`
 */
export function readPatch(type: ScimResourceType, body: unknown): PatchEdit[] {
  const operations = memberOf(readBody(body, PATCH_SCHEMA), 'Operations')
  if (!Array.isArray(operations) || operations.length === 0) {
    throw badRequest('invalidSyntax', '"Operations" must be a list of one operation or more.')
  }
  if (operations.length > OPERATIONS_MAX) {
    throw badRequest('tooMany', `A request takes at most ${OPERATIONS_MAX} operations.`)
  }
  return operations.flatMap((operation: unknown) => toEdits(type, readOperation(operation)))
}

function readOperation(operation: unknown): Operation {
  if (!isObject(operation)) throw badRequest('invalidSyntax', 'An operation must be an object.')
  const word = memberOf(operation, 'op')
  const verb = VERBS.find((known) => typeof word === 'string' && word.toLowerCase() === known)
  if (verb === undefined) {
    throw badRequest('invalidSyntax', '"op" must be "add", "replace" or "remove".')
  }
  const path = memberOf(operation, 'path')
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw badRequest('invalidPath', '"path" must be a text.')
  }
  const isAbsent = path === undefined || path === null || path.trim() === ''
  return { verb, path: isAbsent ? undefined : path.trim(), value: memberOf(operation, 'value') }
}

function toEdits(type: ScimResourceType, operation: Operation): PatchEdit[] {
  const { verb, path, value } = operation
  if (path !== undefined && path.toLowerCase() !== type.schema.toLowerCase()) {
    const edit = toEdit(type, operation, path)
    return edit === undefined ? [] : [edit]
  }
  if (verb === 'remove') throw badRequest('noTarget', 'A "remove" needs a path.')
  if (!isObject(value)) {
    throw badRequest('invalidValue', 'Without a path, "value" must be an object of attributes.')
  }
  return Object.entries(value).flatMap(([name, member]) => {
    if (name.toLowerCase() === type.schema.toLowerCase()) {
      return toEdits(type, { verb, path: undefined, value: member })
    }
    return toMemberEdits(type, { verb, path: name, value: member })
  })
}

/** Objects without a path carry ids, schemas and extensions along, which are no faults. */
function toMemberEdits(type: ScimResourceType, operation: Operation): PatchEdit[] {
  try {
    const edit = toEdit(type, operation, operation.path ?? '')
    return edit === undefined ? [] : [edit]
  } catch (error) {
    const isHarmless =
      error instanceof ScimError &&
      (error.scimType === 'mutability' || error.scimType === 'invalidPath')
    if (isHarmless) return []
    throw error
  }
}

function toEdit(
  type: ScimResourceType,
  { verb, value }: Operation,
  pathText: string,
): PatchEdit | undefined {
  const path = parseScimPath(pathText)
  if (isDropped(type, path, pathText)) return undefined
  const isForeign =
    path.schema !== undefined && path.schema.toLowerCase() !== type.schema.toLowerCase()
  const attribute = isForeign ? undefined : findAttribute(type.attributes, path.attribute)
  if (attribute === undefined) throw unknownPath(pathText)
  const part =
    path.subAttribute === undefined
      ? undefined
      : findAttribute(attribute.subAttributes ?? [], path.subAttribute)
  if (path.subAttribute !== undefined && part === undefined) throw unknownPath(pathText)
  if (attribute.mutability === 'readOnly' || part?.mutability === 'readOnly') {
    throw badRequest('mutability', `"${pathText}" is read-only.`)
  }
  return { verb, attribute, part, filter: toFilter(path, attribute), value, path: pathText }
}

function toFilter(path: ScimPath, attribute: ScimAttribute): BoundFilter | undefined {
  if (path.filter === undefined) return undefined
  if (!attribute.multiValued) {
    throw badRequest('invalidPath', `"${attribute.name}" has no values to choose from.`)
  }
  return bindFilter(path.filter, { attributes: attribute.subAttributes ?? [] })
}

function isDropped(type: ScimResourceType, path: ScimPath, pathText: string): boolean {
  if (type.ignoredSchemas.has(pathText.toLowerCase())) return true
  if (path.schema !== undefined && type.ignoredSchemas.has(path.schema.toLowerCase())) return true
  const isOwn = path.schema === undefined || path.schema.toLowerCase() === type.schema.toLowerCase()
  return isOwn && type.ignoredAttributes.has(path.attribute.toLowerCase())
}

function unknownPath(path: string): ScimError {
  return badRequest('invalidPath', `"${path.slice(0, 200)}" is no attribute of this resource.`)
}
