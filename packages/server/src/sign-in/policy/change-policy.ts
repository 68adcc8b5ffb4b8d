import type { Change } from '../../changes/change.ts'
import { changedMembers } from '../../changes/changed-members.ts'
import { invalidBody } from '../../platform/app-error.ts'
import { findPersonGroupId } from './policy-group-read.ts'
import { getSignInPolicy, updateSignInPolicy, type SignInPolicy } from './policy-store.ts'
import { toPolicyValues } from './policy-values.ts'

export type PolicyEdit = { readonly [Name in keyof SignInPolicy]?: SignInPolicy[Name] | undefined }

/**
 * Changes what is given of the policy of sign-ins; those under way see it at their next step.
 *
 * @throws AppError `invalid_body` for a group that does not exist
 */
export async function changeSignInPolicy(change: Change, edit: PolicyEdit): Promise<SignInPolicy> {
  const { tx, at } = change
  const before = await getSignInPolicy(tx, { isLocked: true })
  const { breakGlassGroupId: groupId, trustedLocalProxies, certificateHeader, brandLogo } = edit
  if (typeof groupId === 'string' && (await findPersonGroupId(tx, groupId)) === undefined) {
    const message = `There is no person group ${groupId}.`
    throw invalidBody([{ path: 'break_glass_group_id', message }])
  }
  const plain = Object.fromEntries(
    Object.entries(edit).filter(([name, value]) => value !== undefined && !JSON_MEMBERS.has(name)),
  ) as Partial<Omit<SignInPolicy, 'trustedLocalProxies' | 'certificateHeader' | 'brandLogo'>>
  const after = await updateSignInPolicy(
    tx,
    {
      ...plain,
      ...(trustedLocalProxies === undefined
        ? {}
        : { trustedLocalProxies: JSON.stringify(trustedLocalProxies) }),
      ...(certificateHeader === undefined ? {} : { certificateHeader: toJson(certificateHeader) }),
      ...(brandLogo === undefined ? {} : { brandLogo: toJson(brandLogo) }),
    },
    at,
  )
  const changed = changedMembers(toPolicyValues(before), toPolicyValues(after))
  if (changed.names.length > 0) {
    change.recordAudit({
      action: 'sign_in_policy.updated',
      target: { type: 'sign_in_policy', id: '1' },
      description: `changed the policy of sign-ins: ${changed.names.join(', ')}`,
      before: changed.before,
      after: changed.after,
    })
  }
  return after
}

const JSON_MEMBERS: ReadonlySet<string> = new Set([
  'trustedLocalProxies',
  'certificateHeader',
  'brandLogo',
])

function toJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
