/*
 * The rights of the role that the service works as, where another one owns the tables. Owns what it may do to
 * which table: everything that the service does, and nothing that would change the audit log.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
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
  const service = sql.id(role)
  await owner.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.reportingViews)
    await sql`grant usage on schema public to ${service}`.execute(tx)
    await grantTemporaryTables(tx, role)
    await grantTables(tx, role)
    await sql`grant usage, select on all sequences in schema public to ${service}`.execute(tx)
    for (const name of SEQUENCES_OF_FUNCTIONS) {
      await sql`revoke all on sequence ${sql.id(name)} from ${service}`.execute(tx)
    }
    for (const name of FUNCTIONS) {
      await sql`grant execute on function ${sql.id(name)} to ${service}`.execute(tx)
    }
    // The service gives its role for reporting queries what that may read.
    await sql`grant usage on schema reporting to ${service} with grant option`.execute(tx)
    await sql`grant select on all tables in schema reporting to ${service} with grant option`.execute(
      tx,
    )
  })
}

/** By one the service tries whether the disk takes anything again. */
async function grantTemporaryTables(tx: Transaction<Schema>, role: string): Promise<void> {
  const { rows } = await sql<{ database: string }>`
    select current_database() as database
    where not has_database_privilege(${role}, current_database(), 'temporary')
      and has_database_privilege(current_database(), 'temporary with grant option')`.execute(tx)
  for (const { database } of rows) {
    await sql`grant temporary on database ${sql.id(database)} to ${sql.id(role)}`.execute(tx)
  }
}

async function grantTables(tx: Transaction<Schema>, role: string): Promise<void> {
  const service = sql.id(role)
  await sql`grant select, insert, update, delete on all tables in schema public to ${service}`.execute(
    tx,
  )
  for (const name of READ_ONLY) {
    await sql`revoke all on ${sql.id(name)} from ${service}`.execute(tx)
    await sql`grant select on ${sql.id(name)} to ${service}`.execute(tx)
  }
  for (const name of KEPT) await sql`revoke delete on ${sql.id(name)} from ${service}`.execute(tx)
  for (const name of APPENDED) {
    await sql`revoke update on ${sql.id(name)} from ${service}`.execute(tx)
  }
}
