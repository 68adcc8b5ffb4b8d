/*
 * Carries out the edits of a PATCH request (RFC 7644 section 3.5.2) on the attributes of a resource. What a
 * request asks for is read in patch-edits.ts, and what may be stored is decided in scim-user.ts and scim-group.ts.
 */
import { evaluateFilter } from './evaluate-filter.ts'
import type { BoundFilter } from './bind-filter.ts'
import type { PatchEdit } from './patch-edits.ts'
import { isObject, readValue, type ScimAttributes } from './read-resource.ts'
import { badRequest } from './scim-error.ts'

/**
 * The attributes of a resource after the edits of a PATCH request, in their order. Pure: a later edit
 * that is refused leaves nothing of the earlier ones behind.
 *
 * @throws ScimError `invalidValue`, `noTarget`, `mutability`
 */
export function applyEdits(resource: ScimAttributes, edits: readonly PatchEdit[]): ScimAttributes {
  return edits.reduce(applyEdit, resource)
}

function applyEdit(resource: ScimAttributes, edit: PatchEdit): ScimAttributes {
  const { attribute } = edit
  const current = resource[attribute.name]
  const next = attribute.multiValued
    ? editValues(Array.isArray(current) ? (current as ScimAttributes[]) : [], edit)
    : attribute.type === 'complex'
      ? editComplex(isObject(current) ? current : {}, edit)
      : edit.verb === 'remove'
        ? undefined
        : readValue(attribute, edit.value, edit.path)
  if (next === undefined && attribute.required) {
    // RFC 7644 section 3.5.2.2.
    throw badRequest('mutability', `"${attribute.name}" is required and cannot be removed.`)
  }
  return withMember(resource, attribute.name, next)
}

/** RFC 7644 section 3.5.2.3: parts that are not named stay as they are. */
function editComplex(current: ScimAttributes, edit: PatchEdit): ScimAttributes | undefined {
  const { attribute, part, verb, value, path } = edit
  if (part !== undefined) {
    const next = verb === 'remove' ? undefined : readValue(part, value, path)
    return notEmpty(withMember(current, part.name, next))
  }
  if (verb === 'remove') return undefined
  const next = readValue(attribute, value, path)
  return isObject(next) ? { ...current, ...next } : undefined
}

function editValues(current: readonly ScimAttributes[], edit: PatchEdit): ScimAttributes[] {
  if (edit.filter !== undefined) return editChosen(current, edit, edit.filter)
  if (edit.part !== undefined) return editParts(current, edit)
  const given = readList(edit)
  switch (edit.verb) {
    case 'replace':
      return given
    case 'add':
      return given.reduce(addValue, [...current])
    case 'remove':
      // Without values the whole attribute goes; with values, those, be they none.
      return edit.value === undefined || edit.value === null
        ? []
        : current.filter((value) => !given.some((gone) => isSameValue(value, gone)))
  }
}

function editParts(current: readonly ScimAttributes[], edit: PatchEdit): ScimAttributes[] {
  const targets = current.length === 0 && edit.verb !== 'remove' ? [{}] : current
  return targets.map((value) => editValue(value, edit)).filter((value) => value !== undefined)
}

function editChosen(
  current: readonly ScimAttributes[],
  edit: PatchEdit,
  filter: BoundFilter,
): ScimAttributes[] {
  const chosen = new Set(current.filter((value) => evaluateFilter(filter, value)))
  if (chosen.size === 0) return editNone(current, edit, filter)
  const next = current.flatMap((value) => {
    if (!chosen.has(value)) return [value]
    const edited =
      edit.verb === 'remove' && edit.part === undefined ? undefined : editValue(value, edit)
    return edited === undefined ? [] : [edited]
  })
  return keepOnePrimary(next, (value) => !current.includes(value))
}

/** Nothing has been chosen: an `add` makes the value that the filter describes. */
function editNone(
  current: readonly ScimAttributes[],
  edit: PatchEdit,
  filter: BoundFilter,
): ScimAttributes[] {
  if (edit.verb === 'remove') return [...current]
  const described = edit.verb === 'add' ? describedBy(filter) : undefined
  if (described === undefined) {
    throw badRequest('noTarget', `No value is chosen by "${edit.path.slice(0, 200)}".`)
  }
  const made = editValue(described, edit)
  return made === undefined ? [...current] : addValue([...current], made)
}

function editValue(value: ScimAttributes, edit: PatchEdit): ScimAttributes | undefined {
  const { attribute, part, verb } = edit
  if (part !== undefined) {
    const next = verb === 'remove' ? undefined : readValue(part, edit.value, edit.path)
    // Identity providers take away the address of an email alone: nothing but its type would be left.
    if (part.name === 'value' && (next === undefined || next === '')) return undefined
    return notEmpty(withMember(value, part.name, next))
  }
  const [given] = readList(edit)
  if (given === undefined) {
    throw badRequest('invalidValue', `A value of "${attribute.name}" is missing.`)
  }
  return { ...value, ...given }
}

/** The members that a filter asks for by equality, and by nothing else. */
function describedBy(filter: BoundFilter): ScimAttributes | undefined {
  if (filter.kind === 'compare' && filter.operator === 'eq') return { [filter.key]: filter.value }
  if (filter.kind !== 'and') return undefined
  return filter.operands
    .map(describedBy)
    .reduce<ScimAttributes | undefined>(
      (whole, part) =>
        whole === undefined || part === undefined ? undefined : { ...whole, ...part },
      {},
    )
}

/** A value that is there already takes on what is said of it anew. */
function addValue(values: readonly ScimAttributes[], given: ScimAttributes): ScimAttributes[] {
  const index = values.findIndex((value) => isSameValue(value, given))
  const added = { ...values[index], ...given }
  const next = index === -1 ? [...values, added] : values.with(index, added)
  return keepOnePrimary(next, (value) => value === added)
}

/** RFC 7643 section 2.4: at most one value is the primary one; the newest claim wins. */
function keepOnePrimary(
  values: readonly ScimAttributes[],
  isNew: (value: ScimAttributes) => boolean,
): ScimAttributes[] {
  const isClaimed = values.some((value) => isNew(value) && value['primary'] === true)
  return values.map((value) =>
    isClaimed && !isNew(value) && value['primary'] === true ? { ...value, primary: false } : value,
  )
}

function isSameValue(left: ScimAttributes, right: ScimAttributes): boolean {
  const [a, b] = [left['value'], right['value']]
  return typeof a === 'string' && typeof b === 'string' && a.toLowerCase() === b.toLowerCase()
}

function readList({ attribute, value, path }: PatchEdit): ScimAttributes[] {
  const read = readValue(attribute, value, path)
  return Array.isArray(read) ? (read as ScimAttributes[]) : []
}

function withMember(object: ScimAttributes, name: string, value: unknown): ScimAttributes {
  if (value !== undefined) return { ...object, [name]: value }
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}

function notEmpty(object: ScimAttributes): ScimAttributes | undefined {
  return Object.keys(object).length === 0 ? undefined : object
}
