import { sql, type Kysely } from 'kysely'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Updateable } from 'kysely'

const policyTable = defineTable('sign_in_policy')

type PolicyRow = RecordOf<typeof policyTable>

/** What is decided about sign-ins. */
export type SignInPolicy = Omit<PolicyRow, 'id' | 'isSingle' | 'updatedAt'>

/** What somebody may do whose device cannot be proven. */
export const FALLBACKS = [
  'registered_device',
  'certificate',
  'admin_approval',
  'browser_key',
] as const

/** What holds until somebody decides: whoever cannot prove a device, and a device that does not answer, is refused. */
const DEFAULT_POLICY: SignInPolicy = {
  fallbacks: [],
  browserKeyDays: 30,
  firstRegistration: 'on_first_use',
  furtherRegistration: 'registered_device_or_admin',
  unreachableDevice: 'refuse',
  lastKnownMinutes: 60,
  upstreamOutage: 'refuse',
  breakGlassGroupId: null,
  recheckAgeMinutes: 60,
  trustedLocalProxies: [],
  certificateHeader: null,
  brandName: null,
  brandLogo: null,
  brandColour: null,
}

/** The policy; locked until the transaction ends where that is asked for and it was ever changed. */
export async function getSignInPolicy(
  db: Kysely<Schema>,
  options: { readonly isLocked?: boolean } = {},
): Promise<SignInPolicy> {
  return (await policyTable.find(db, { isSingle: true }, options)) ?? DEFAULT_POLICY
}

/** Writes what changes of the policy. */
export async function updateSignInPolicy(
  db: Kysely<Schema>,
  changes: CamelCased<Updateable<Schema['sign_in_policy']>>,
  at: Date,
): Promise<SignInPolicy> {
  const { trustedLocalProxies, certificateHeader, brandLogo, ...plain } = DEFAULT_POLICY
  await db
    .insertInto('sign_in_policy')
    .values(
      policyTable.toInsert({
        ...plain,
        trustedLocalProxies: JSON.stringify(trustedLocalProxies),
        certificateHeader: certificateHeader && JSON.stringify(certificateHeader),
        brandLogo: brandLogo && JSON.stringify(brandLogo),
        updatedAt: at,
      }),
    )
    .onConflict((conflict) => conflict.column('is_single').doNothing())
    .execute()
  return policyTable.update(db, { isSingle: true }, { ...changes, updatedAt: at })
}

/** Whether a person is a member of a group; false for no group. */
export async function hasGroupMember(
  db: Kysely<Schema>,
  groupId: string | null,
  personId: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from person_group_member
      where person_group_id = ${groupId} and person_id = ${personId}) as found`.execute(db)
  return rows[0]?.found ?? false
}
