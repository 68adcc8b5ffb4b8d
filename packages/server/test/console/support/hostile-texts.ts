/* Texts that devices, people and API clients can supply, replaced by one that would run if a page took it for more. */
import { sql } from 'kysely'
import { openDatabase } from '../../../src/platform/db/database.ts'
import type { ServiceFoundation } from '../../../src/app/foundation.ts'
import type { Schema } from '../../../src/schema/schema.ts'

export const HOSTILE_TEXT =
  '"><img src=x onerror=hostileTextRan=true><script>hostileTextRan=true</script>{{7*7}}'

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  admin_user: ['first_name', 'last_name'],
  api_key: ['name'],
  auth_log_session: [
    'person_name',
    'agent_version',
    'country',
    'city',
    'browser_name',
    'browser_version',
    'browser_user_agent',
    'app_name',
  ],
  browser_key: ['user_agent'],
  check_tag: ['name', 'description'],
  custom_check_draft: [
    'name',
    'description',
    'issue_title',
    'rationale_template',
    'fix_instructions_template',
    'privacy_info',
  ],
  device: ['name', 'serial', 'operating_system', 'hardware_model', 'osquery_version', 'note'],
  device_group: ['name', 'description'],
  enrollment_secret: ['name'],
  entra_account: ['username'],
  exemption_request: ['requester_message'],
  issue: ['title', 'issue_key', 'issue_value', 'exemption_reason'],
  live_query_campaign: ['name'],
  live_query_result: ['error_message', 'warning_message'],
  person: ['name', 'display_name', 'given_name', 'family_name'],
  person_group: ['name'],
  posture_check: [
    'name',
    'description',
    'issue_title',
    'rationale_template',
    'fix_instructions_template',
    'privacy_info',
  ],
  reenrollment_request: ['host_name', 'serial', 'hardware_uuid'],
  registration_request: ['requester_message'],
  reporting_query: ['name'],
  ssf_client: ['name'],
  ssf_stream: ['name', 'description', 'status_reason'],
  webhook: ['name', 'description'],
}

/** Rows as osquery gives them, whose columns and values are texts as well. */
const ROW_COLUMNS = [
  ['issue', 'value', false],
  ['check_result', 'rows', true],
  ['live_query_result', 'rows', true],
] as const

/** Replaces every such text in the database of a service; ids keep apart what must be. */
export async function makeTextsHostile(services: ServiceFoundation): Promise<void> {
  const { db, end } = openOwner(services)
  try {
    for (const [table, columns] of Object.entries(COLUMNS)) {
      for (const column of columns) {
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${HOSTILE_TEXT} || ctid::text
          where ${sql.ref(column)} is not null`.execute(db)
      }
    }
    const row = { KOLIDE_CHECK_STATUS: 'FAIL', [HOSTILE_TEXT]: HOSTILE_TEXT }
    for (const [table, column, isList] of ROW_COLUMNS) {
      await sql`update ${sql.table(table)}
        set ${sql.ref(column)} = ${JSON.stringify(isList ? [row] : row)}::jsonb`.execute(db)
    }
  } finally {
    await end()
  }
}

function openOwner({ network, ownerConnection }: ServiceFoundation) {
  const owner = openDatabase<Schema>(ownerConnection, {
    network,
    poolMax: 1,
    statementTimeoutMs: 0,
    logError: () => undefined,
  })
  return { db: owner.db, end: () => owner.close() }
}
