import type { ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import type { SignInPolicy } from '../policy/policy-store.ts'

/** What the registration of a device takes. */
export type RegistrationRule =
  | { readonly kind: 'at_once' }
  | { readonly kind: 'confirmed'; readonly ways: readonly ConfirmationWay[] }
  | { readonly kind: 'refused' }

/**
 * What the policy asks for a device of somebody whose first device was registered before, or was not. The first use
 * registers only for whom an identity provider has signed: an address that a browser tells may be that of somebody
 * else.
 */
export function decideRegistration(
  policy: Pick<SignInPolicy, 'firstRegistration' | 'furtherRegistration'>,
  { isFirst, isProven }: { readonly isFirst: boolean; readonly isProven: boolean },
): RegistrationRule {
  if (!isFirst) return { kind: 'confirmed', ways: FURTHER[policy.furtherRegistration] }
  switch (policy.firstRegistration) {
    case 'on_first_use':
      return isProven ? { kind: 'at_once' } : BY_ADMIN
    case 'admin_approval':
      return BY_ADMIN
    case 'refuse':
      return { kind: 'refused' }
  }
}

const BY_ADMIN = { kind: 'confirmed', ways: ['admin_approval'] } as const

const FURTHER: Readonly<Record<SignInPolicy['furtherRegistration'], readonly ConfirmationWay[]>> = {
  registered_device: ['registered_device'],
  admin_approval: ['admin_approval'],
  registered_device_or_admin: ['registered_device', 'admin_approval'],
}
