/*
 * The rights of the role that the service works as, where another one owns the tables. Owns what it may do to
 * which table: everything that the service does, and nothing that would change the audit log.
 */
import { sql, type Kysely } from 'kysely'
import { escapeIdentifier } from 'pg'
import { lockInTransaction } from '../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from './lock-keys.ts'
import type { Schema } from './schema.ts'

/** Tables that are read, and written by functions of their owner or by the migrations alone. */
const READ_ONLY = [
  'audit_entry',
  'audit_link',
  'audit_subtree',
  'audit_chain',
  'audit_text_block',
  'audit_description_block',
  'schema_migration',
]

/** Tables of which nothing is deleted; those of the second list are not changed either. */
const KEPT = ['audit_checkpoint_key', 'audit_checkpoint']
const APPENDED = ['audit_checkpoint']

/** Functions that run with the rights of their owner, and check what they are asked for. */
const FUNCTIONS = [
  'append_audit_entries',
  'link_audit_entries',
  'settle_audit_entries',
  'summarise_audit_texts',
  'summarise_audit_descriptions',
  'cut_audit_chain',
  'skip_given_numbers',
  'advance_partitions',
  'drop_partition',
]

/** Numbers that a function draws. */
const SEQUENCES_OF_FUNCTIONS = ['audit_entry_number']

/**
 * Gives the role of the service the rights that it needs, and takes those that it must not have. Runs as the
 * owner of the tables. Idempotent.
 */
export async function grantServiceRole(owner: Kysely<Schema>, role: string): Promise<void> {
  await owner.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.reportingViews)
    await sql.raw(toGrants(role)).execute(tx)
  })
}

/** One statement: every start of a service runs it. */
function toGrants(role: string): string {
  const service = escapeIdentifier(role)
  const tables = [
    `grant select, insert, update, delete on all tables in schema public to ${service}`,
    ...READ_ONLY.flatMap((name) => [
      `revoke all on ${name} from ${service}`,
      `grant select on ${name} to ${service}`,
    ]),
    ...KEPT.map((name) => `revoke delete on ${name} from ${service}`),
    ...APPENDED.map((name) => `revoke update on ${name} from ${service}`),
  ]
  const statements = [
    `grant usage on schema public to ${service}`,
    ...tables,
    `grant usage, select on all sequences in schema public to ${service}`,
    ...SEQUENCES_OF_FUNCTIONS.map((name) => `revoke all on sequence ${name} from ${service}`),
    ...FUNCTIONS.map((name) => `grant execute on function ${name} to ${service}`),
    // The service gives its role for reporting queries what that may read.
    `grant usage on schema reporting to ${service} with grant option`,
    `grant select on all tables in schema reporting to ${service} with grant option`,
  ]
  return `do $grants$ begin ${statements.join(';\n')}; end $grants$`
}
