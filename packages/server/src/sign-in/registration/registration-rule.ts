import type { ConfirmationWay } from '../../schema/tables/sign-in-tables.ts'
import type { SignInPolicy } from '../policy/policy-store.ts'

/** What the registration of a device takes. */
export type RegistrationRule =
  | { readonly kind: 'at_once' }
  | { readonly kind: 'confirmed'; readonly ways: readonly ConfirmationWay[] }
  | { readonly kind: 'refused' }

/** What the policy asks for a device of somebody whose first device was registered before, or was not. */
export function decideRegistration(
  policy: Pick<SignInPolicy, 'firstRegistration' | 'furtherRegistration'>,
  isFirst: boolean,
): RegistrationRule {
  if (!isFirst) return { kind: 'confirmed', ways: FURTHER[policy.furtherRegistration] }
  switch (policy.firstRegistration) {
    case 'on_first_use':
      return { kind: 'at_once' }
    case 'admin_approval':
      return { kind: 'confirmed', ways: ['admin_approval'] }
    case 'refuse':
      return { kind: 'refused' }
  }
}

const FURTHER: Readonly<Record<SignInPolicy['furtherRegistration'], readonly ConfirmationWay[]>> = {
  registered_device: ['registered_device'],
  admin_approval: ['admin_approval'],
  registered_device_or_admin: ['registered_device', 'admin_approval'],
}
