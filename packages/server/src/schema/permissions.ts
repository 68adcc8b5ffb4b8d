/**
 * What callers may do. The names of the permissions are part of the API: they are granted per key, each
 * with a recorded rationale, and named in every refusal.
 */
export const PERMISSIONS = [
  'Remove Devices',
  'Manage User Requests',
  'Manage Device Groups',
  'Refresh Check',
  'Update Devices',
  'Create Live Query',
  'Manage Shared Signals Framework Streams',
  'Manage Checks',
  'Submit Check Runs',
  'Manage Webhooks',
  'Record Sign-ins',
  'Read Sign-in',
  'Manage Sign-in',
  'Manage People',
  'Manage Reporting',
  'Download Packages',
  'Manage Enrollment',
  'Manage Admins',
  'Manage API Keys',
  'Manage Organisation',
] as const

export type Permission = (typeof PERMISSIONS)[number]

/** Says whether a text names a permission that exists. */
export function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text)
}
