/*
 * Which person an account of Entra is. An account is known by tenant and object: the name that Entra gives with it
 * finds the person the first time, and from then on may change, or belong to somebody else, without anybody becoming
 * another.
 */
import type { Change } from '../../changes/change.ts'
import { newUuid } from '../../platform/ids.ts'
import { findEntraAccount, insertEntraAccount } from './entra-account-store.ts'

/** What Entra has proven of an account. */
export interface ProvenAccount {
  readonly tenantId: string
  readonly objectId: string
  readonly username: string
}

/** The person whose account it is; undefined for an account that was not seen before. */
export async function findPersonIdOfAccount(
  { tx }: Pick<Change, 'tx'>,
  account: ProvenAccount,
): Promise<string | undefined> {
  return (await findEntraAccount(tx, toKey(account)))?.personId
}

/** Makes an account that was not seen before that of a person; false when the person has another one. */
export async function bindEntraAccount(
  change: Change,
  personId: string,
  account: ProvenAccount,
): Promise<boolean> {
  const id = newUuid()
  const { username } = account
  const values = { ...toKey(account), personId, username }
  const isNew = await insertEntraAccount(change.tx, { id, ...values, firstSeenAt: change.at })
  if (!isNew) return (await findPersonIdOfAccount(change, account)) === personId
  change.recordAudit({
    action: 'entra_account.bound',
    target: { type: 'entra_account', id },
    description: 'took an account of Entra for that of a person, who signed in by it first',
    after: {
      person_id: personId,
      tenant_id: values.tenantId,
      object_id: values.objectId,
      username,
    },
  })
  return true
}

/** As Entra writes them, in one case. */
function toKey({ tenantId, objectId }: ProvenAccount) {
  return { tenantId: tenantId.toLowerCase(), objectId: objectId.toLowerCase() }
}
