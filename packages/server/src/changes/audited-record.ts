import type { JsonObject } from './audit/audit-entry.ts'
import type { Change } from './change.ts'

/** A record by what people call it. */
export interface NamedRecord {
  readonly id: string
  readonly name: string
}

/** Records the audit entries of a type of record that admins create, change and delete; `noun` is its word. */
export function auditedAs(type: string, noun: string) {
  function record(
    change: Change,
    verb: 'created' | 'updated' | 'deleted',
    { id, name }: NamedRecord,
    members: { readonly before?: JsonObject; readonly after?: JsonObject },
  ): void {
    const word = verb === 'updated' ? 'changed' : verb
    change.recordAudit({
      action: `${type}.${verb}`,
      target: { type, id },
      description: `${word} the ${noun} ${name}`,
      ...members,
    })
  }
  return {
    created: (change: Change, created: NamedRecord, after: JsonObject) =>
      record(change, 'created', created, { after }),
    updated: (change: Change, updated: NamedRecord, before: JsonObject, after: JsonObject) =>
      record(change, 'updated', updated, { before, after }),
    deleted: (change: Change, deleted: NamedRecord, before: JsonObject) =>
      record(change, 'deleted', deleted, { before }),
  }
}
