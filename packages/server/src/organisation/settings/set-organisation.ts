/*
 * The organisation that this service belongs to: its name, the threshold from which a device counts
 * as not compliant, and the switches of whole features.
 */
import type { Change } from '../../changes/change.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import {
  getOrganisationForUpdate,
  updateOrganisation,
  type Organisation,
} from './organisation-store.ts'

/** The statuses of devices from which on one can count as not compliant. */
export const COMPLIANCE_THRESHOLDS = [
  'blocked',
  'will_block',
  'notified',
] as const satisfies readonly Organisation['complianceThreshold'][]

export const ORGANISATION_NAME_LENGTH_MAX = 200

/** What can be set; absent members stay as they are. */
export interface OrganisationSettings {
  readonly name?: string | undefined
  readonly complianceThreshold?: Organisation['complianceThreshold'] | undefined
  readonly isApiWritesEnabled?: boolean | undefined
  readonly isSsfEnabled?: boolean | undefined
  /** Whether admins use the console from trusted devices alone. */
  readonly isTrustedDeviceRequired?: boolean | undefined
}

/**
 * Sets what is given and leaves an audit entry with the values before and after. A new compliance
 * threshold takes effect on the devices through `onThresholdChanged`, in the same change.
 */
export async function setOrganisation(
  change: Change,
  settings: OrganisationSettings,
  onThresholdChanged: (change: Change) => Promise<void>,
): Promise<Organisation> {
  const before = await getOrganisationForUpdate(change.tx)
  const after = await updateOrganisation(change.tx, {
    name: settings.name === undefined ? before.name : toStorableText(settings.name),
    complianceThreshold: settings.complianceThreshold ?? before.complianceThreshold,
    apiWritesEnabled: settings.isApiWritesEnabled ?? before.apiWritesEnabled,
    ssfEnabled: settings.isSsfEnabled ?? before.ssfEnabled,
    adminsRequireTrustedDevice:
      settings.isTrustedDeviceRequired ?? before.adminsRequireTrustedDevice,
    updatedAt: change.at,
  })
  change.recordAudit({
    action: 'organisation.updated',
    target: { type: 'organisation', id: String(after.id) },
    description: `changed the settings of the organisation ${after.name}`,
    before: toAuditValues(before),
    after: toAuditValues(after),
  })
  if (after.complianceThreshold !== before.complianceThreshold) await onThresholdChanged(change)
  return after
}

function toAuditValues(organisation: Organisation) {
  return {
    name: organisation.name,
    compliance_threshold: organisation.complianceThreshold,
    api_writes: organisation.apiWritesEnabled,
    ssf: organisation.ssfEnabled,
    admins_require_trusted_device: organisation.adminsRequireTrustedDevice,
  }
}
