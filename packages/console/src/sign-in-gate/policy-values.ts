/* The values of the form of the policy, and what is sent of them. */
import type { SignInPolicy, UpdateSignInPolicyInput } from '../api/generated/types.gen.ts'
import type { Choice } from '../kit/record-picker.tsx'
import { toLines } from './form-lines.ts'

export type Fallback = SignInPolicy['fallbacks'][number]
export type Logo = NonNullable<SignInPolicy['brand_logo']>

export interface PolicyValues {
  fallbacks: Fallback[]
  keyDays: number | string
  first: SignInPolicy['first_registration']
  further: SignInPolicy['further_registration']
  unreachable: SignInPolicy['unreachable_device']
  lastKnownMinutes: number | string
  outage: SignInPolicy['upstream_outage']
  breakGlass: Choice | null
  recheckMinutes: number | string
  /** One a line: a name, an equals sign, a path. */
  proxies: string
  header: string
  /** Addresses of proxies, one a line. */
  headerProxies: string
  brandName: string
  brandColour: string
  logo: Logo | null
}

/** The name of the group is looked up where it is shown. */
export function toPolicyValues(policy: SignInPolicy, groupName: string | undefined): PolicyValues {
  const { break_glass_group_id: groupId, certificate_header: header } = policy
  return {
    fallbacks: policy.fallbacks,
    keyDays: policy.browser_key_days,
    first: policy.first_registration,
    further: policy.further_registration,
    unreachable: policy.unreachable_device,
    lastKnownMinutes: policy.last_known_minutes,
    outage: policy.upstream_outage,
    breakGlass: groupId === null ? null : { value: groupId, label: groupName ?? groupId },
    recheckMinutes: policy.recheck_age_minutes,
    proxies: policy.trusted_local_proxies.map(({ name, path }) => `${name} = ${path}`).join('\n'),
    header: header?.name ?? '',
    headerProxies: header?.proxies.join('\n') ?? '',
    brandName: policy.brand_name ?? '',
    brandColour: policy.brand_colour ?? '',
    logo: policy.brand_logo,
  }
}

export function toPolicyInput(values: PolicyValues) {
  const header = values.header.trim()
  return {
    fallbacks: values.fallbacks,
    browser_key_days: Number(values.keyDays),
    first_registration: values.first,
    further_registration: values.further,
    unreachable_device: values.unreachable,
    last_known_minutes: Number(values.lastKnownMinutes),
    upstream_outage: values.outage,
    break_glass_group_id: values.breakGlass?.value ?? null,
    recheck_age_minutes: Number(values.recheckMinutes),
    trusted_local_proxies: toLines(values.proxies).map(toProxy),
    certificate_header:
      header === '' ? null : { name: header, proxies: toLines(values.headerProxies) },
    brand_name: values.brandName.trim() || null,
    brand_colour: values.brandColour.trim().toLowerCase() || null,
    brand_logo: values.logo,
  } satisfies UpdateSignInPolicyInput
}

function toProxy(line: string): { name: string; path: string } {
  const at = line.indexOf('=')
  return at < 0
    ? { name: line, path: '' }
    : { name: line.slice(0, at).trim(), path: line.slice(at + 1).trim() }
}
