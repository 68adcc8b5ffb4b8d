import type { TargetPolicy } from '../../src/platform/net/target-policy.ts'

/** The policy of an empty allow-list: public HTTPS only. */
export const publicTargetsOnly: TargetPolicy = {
  isHostAllowed: () => false,
  isAddressAllowed: () => false,
}
