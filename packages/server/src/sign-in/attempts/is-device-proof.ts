import type { Assurance } from '../../schema/tables/sign-in-tables.ts'

/**
 * Whether the device itself was proven, by its connections or a key in its hardware. The key of a browser can be copied
 * to another machine, and what somebody confirmed must not confirm further devices.
 */
export function isDeviceProof(assurance: Assurance): boolean {
  return assurance === 'live' || assurance === 'hardware'
}
