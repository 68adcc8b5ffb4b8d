import type { Change } from '../../changes/change.ts'
import { changedMembers } from '../../changes/changed-members.ts'
import { invalidBody } from '../../platform/app-error.ts'
import { findPersonGroupId } from './policy-group-read.ts'
import { getSignInPolicy, updateSignInPolicy, type SignInPolicy } from './policy-store.ts'

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
  const changed = changedMembers(toAuditValues(before), toAuditValues(after))
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

/** Of the logo only how large it is. */
function toAuditValues(policy: SignInPolicy) {
  return {
    fallbacks: policy.fallbacks,
    browser_key_days: policy.browserKeyDays,
    first_registration: policy.firstRegistration,
    further_registration: policy.furtherRegistration,
    unreachable_device: policy.unreachableDevice,
    last_known_minutes: policy.lastKnownMinutes,
    upstream_outage: policy.upstreamOutage,
    break_glass_group_id: policy.breakGlassGroupId,
    recheck_age_minutes: policy.recheckAgeMinutes,
    trusted_local_proxies: policy.trustedLocalProxies.map(({ name, path }) => ({ name, path })),
    certificate_header:
      policy.certificateHeader === null
        ? null
        : { name: policy.certificateHeader.name, proxies: policy.certificateHeader.proxies },
    brand_name: policy.brandName,
    brand_logo_length: policy.brandLogo?.data.length ?? 0,
    brand_colour: policy.brandColour,
  }
}
