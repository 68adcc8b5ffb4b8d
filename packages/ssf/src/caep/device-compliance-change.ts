import { z } from 'zod'
import { caepPayload, type CaepCommonMembers } from './common-members.ts'
import { withWholeSeconds } from './whole-seconds.ts'

/** The two words of device compliance. CAEP 1.0 section 3.5. */
export const COMPLIANCE_STATUSES = ['compliant', 'not-compliant'] as const

/** One of the two words of device compliance. CAEP 1.0 section 3.5. */
export type ComplianceStatus = (typeof COMPLIANCE_STATUSES)[number]

/** Payload of a device-compliance-change event. CAEP 1.0 section 3.5. */
export interface DeviceComplianceChange extends CaepCommonMembers {
  readonly previous_status: ComplianceStatus
  readonly current_status: ComplianceStatus
}

/** Validates a device-compliance-change payload; unknown members are kept. */
export const deviceComplianceChangeSchema = caepPayload({
  previous_status: z.enum(COMPLIANCE_STATUSES),
  current_status: z.enum(COMPLIANCE_STATUSES),
})

/**
 * Builds the payload of a device-compliance-change event; `event_timestamp` is rounded down to
 * whole seconds. CAEP 1.0 section 3.5.
 *
 * @throws RangeError when the status does not change, or when the timestamp cannot be seconds.
 */
export function buildDeviceComplianceChange(input: DeviceComplianceChange): DeviceComplianceChange {
  if (input.previous_status === input.current_status) {
    throw new RangeError('a compliance change needs two different statuses')
  }
  return withWholeSeconds(input)
}
