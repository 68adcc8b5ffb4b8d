import type { BoundFilter } from './bind-filter.ts'
import { evaluateFilter } from './evaluate-filter.ts'
import type { PatchEdit } from './patch-edits.ts'
import { readValue } from './read-resource.ts'
import { badRequest } from './scim-error.ts'
import { toMemberIds } from './scim-group.ts'

/** What the edits of a PATCH request do to the members of a group, step by step. */
export type MemberStep =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
  | { readonly kind: 'remove_where'; readonly filter: BoundFilter }

/** A large group is read whole only where a step needs all of it. */
export interface MemberSteps {
  readonly steps: readonly MemberStep[]
  /** The members that have to be known to carry the steps out; all when undefined. */
  readonly involvedIds: readonly string[] | undefined
}

/**
 * Makes sense of the edits of `members`.
 *
 * @throws ScimError `invalidValue`, `invalidPath`, `invalidFilter`, `noTarget`
 */
export function readMemberSteps(edits: readonly PatchEdit[]): MemberSteps {
  const steps = edits.map(toStep)
  const isPartial = steps.every((step) => step.kind === 'add' || step.kind === 'remove')
  return {
    steps,
    involvedIds: isPartial ? steps.flatMap((step) => ('ids' in step ? step.ids : [])) : undefined,
  }
}

/** The members after the steps, of those that were known before. Pure. */
export function applyMemberSteps(
  current: readonly string[],
  steps: readonly MemberStep[],
): ReadonlySet<string> {
  return steps.reduce<ReadonlySet<string>>((members, step) => {
    switch (step.kind) {
      case 'add':
        return new Set([...members, ...step.ids])
      case 'remove':
        return withoutAll(members, step.ids)
      case 'replace':
        return new Set(step.ids)
      case 'remove_where':
        return new Set([...members].filter((id) => !evaluateFilter(step.filter, toValue(id))))
    }
  }, new Set(current))
}

function withoutAll(members: ReadonlySet<string>, ids: readonly string[]): Set<string> {
  const remaining = new Set(members)
  for (const id of ids) remaining.delete(id)
  return remaining
}

function toValue(id: string): Record<string, unknown> {
  return { value: id, type: 'User' }
}

function toStep(edit: PatchEdit): MemberStep {
  const { verb, filter, part } = edit
  if (part !== undefined) {
    throw badRequest('mutability', 'Members are added and removed, not changed.')
  }
  if (filter !== undefined) return toFilterStep(edit, filter)
  if (verb === 'remove' && (edit.value === undefined || edit.value === null)) {
    return { kind: 'replace', ids: [] }
  }
  const read = readValue(edit.attribute, edit.value, edit.path)
  return { kind: verb, ids: verb === 'remove' ? knownIds(read) : toMemberIds(read) }
}

function toFilterStep({ verb, path }: PatchEdit, filter: BoundFilter): MemberStep {
  if (verb !== 'remove') {
    throw badRequest('noTarget', `No member is chosen by "${path.slice(0, 200)}".`)
  }
  if (filter.kind === 'compare' && filter.operator === 'eq') {
    const { key, value } = filter
    if (key === 'value' || key === '$ref')
      return { kind: 'remove', ids: knownIds([{ [key]: value }]) }
  }
  requireKnownKeys(filter)
  return { kind: 'remove_where', filter }
}

/** Whoever is no user is no member either: there is nothing to remove, and nothing to refuse. */
function knownIds(members: unknown): string[] {
  const values = Array.isArray(members) ? (members as Record<string, unknown>[]) : []
  return values.flatMap(({ value, $ref }) => {
    try {
      return toMemberIds([{ value, $ref }])
    } catch {
      return []
    }
  })
}

function requireKnownKeys(filter: BoundFilter): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      filter.operands.forEach(requireKnownKeys)
      return
    case 'not':
      requireKnownKeys(filter.operand)
      return
    case 'compare':
    case 'present':
    case 'some':
      if (filter.key === 'value' || filter.key === 'type') return
      throw badRequest('invalidFilter', 'Members are chosen by "value" and "type".')
  }
}
