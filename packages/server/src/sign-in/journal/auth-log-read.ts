import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { isDeprovisioned } from '../../people/people/person-read.ts'
import { earliestBefore, type SearchClause } from '../../platform/search/search-field.ts'
import { foreignKeyField } from '../../platform/search/search-to-sql.ts'
import { hasSummarisedText, summarisedText } from '../../platform/search/text-fields.ts'
import type { PageSought } from '../../platform/search/page-sought.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** What summaries of pages hold for the key. */
const SUMMARISED_KEY = sql`(auth_log_session.id + 0)`

/** A text of which many sign-ins have the same words. */
function withSharedWords(column: string) {
  const text = { column: `auth_log_session.${column}`, key: SUMMARISED_KEY }
  return {
    type: 'text',
    alone: summarisedText(text),
    isPossible: hasSummarisedText('auth_log_session', text),
  } as const
}

/** Sign-in sessions. */
export const AUTH_LOG_LIST = new RecordList({
  noun: 'auth log',
  table: 'auth_log_session',
  fields: {
    timestamp: { type: 'timestamp', column: 'started_at' },
    city: withSharedWords('city'),
    country: withSharedWords('country'),
    ip_address: 'text',
    agent_version: withSharedWords('agent_version'),
    browser_name: withSharedWords('browser_name'),
    person_name: withSharedWords('person_name'),
    person_email: 'text',
    person_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'auth_log_session.person_id', table: 'person' }),
    },
    device_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'auth_log_session.device_id', table: 'device' }),
    },
    result: { type: 'enum', values: ['Success', 'Fail'] },
    updated_at: 'timestamp',
  },
  timeKey: SUMMARISED_KEY,
  likelyRows: beganBefore,
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('auth_log_session')
      .selectAll()
      .select(isDeprovisioned('auth_log_session.person_id').as('is_person_deprovisioned')),
})

/**
 * A sign-in is over within minutes: those that changed last before a time are among those that began last before it.
 */
function beganBefore(clauses: readonly SearchClause[], { isDescending }: PageSought) {
  const before = earliestBefore(clauses)
  if (before === undefined || !isDescending) return undefined
  const [time] = before.values
  return sql`auth_log_session.started_at < ${time} order by auth_log_session.started_at desc`
}

/** A sign-in session as the API shows it. */
export type ListedAuthLog = RowOf<typeof AUTH_LOG_LIST>

/** A sign-in session. */
export type AuthLogRecord = Omit<ListedAuthLog, 'isPersonDeprovisioned'>
