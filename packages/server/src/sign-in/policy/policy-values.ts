import type { SignInPolicy } from './policy-store.ts'

/** The policy as the audit log and the commands show it: of the logo only how large it is. */
export function toPolicyValues(policy: SignInPolicy) {
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
