import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { HAS_WAY } from '../admin-sign-in/sign-in-way-read.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** The ways in which admins sign in without a one-time link. */
export const WAYS_TO_SIGN_IN = ['passkey', 'password', 'identity_provider'] as const

/** Admins, with how they sign in. */
export const ADMIN_LIST = new RecordList({
  noun: 'admin',
  table: 'admin_user',
  fields: {
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    created_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('admin_user')
      .selectAll()
      .select([
        sql<(typeof WAYS_TO_SIGN_IN)[number][]>`array_remove(array[
          case when ${HAS_WAY.passkey} then 'passkey' end,
          case when ${HAS_WAY.password} then 'password' end,
          case when ${HAS_WAY.identity_provider} then 'identity_provider' end], null)`.as(
          'ways_to_sign_in',
        ),
        sql<Date | null>`(
          select max(expires_at) from admin_sign_in_link link
          where link.admin_id = admin_user.id and kind = 'invitation' and expires_at > now())`.as(
          'invited_until',
        ),
      ]),
})

/** An admin of the list. */
export type ListedAdmin = RowOf<typeof ADMIN_LIST>
