/*
 * The wire form of what happened to a device.
 */
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { TIMELINE_KINDS, type TimelineEntry, type TimelineKind } from './device-timeline-read.ts'

/** An entry of the timeline of a device on the wire. */
export const timelineEntrySchema = z
  .object({
    kind: z.enum(TIMELINE_KINDS),
    occurred_at: timestampSchema,
    description: z.string().describe('One sentence for people.'),
    record_type: z.string(),
    record_id: z.string(),
    link: z
      .string()
      .nullable()
      .describe('The address of the record; null for transitions, which have none of their own.'),
    from_state: z.string().nullable(),
    to_state: z.string().nullable(),
    actor_name: z.string().nullable(),
    txn: z.string().nullable().describe('Shared with the audit entries and events of the cause.'),
    configured_check_id: z
      .string()
      .nullable()
      .describe('The check whose configuration was changed, or undone, by the same cause.'),
  })
  .meta({ id: 'DeviceTimelineEntry' })

/** Where the records are that have an address. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  issue: 'issues',
  exemption_request: 'exemption_requests',
  registration_request: 'registration_requests',
  reenrollment_request: 'reenrollment_requests',
  device: 'devices',
  auth_log: 'auth_logs',
}

/** The wire form of an entry. */
export function toTimelineEntryJson(baseUrl: string, entry: TimelineEntry) {
  const collection = COLLECTIONS[entry.recordType]
  return toWire(timelineEntrySchema, entry, {
    description: SENTENCES[entry.kind](entry),
    link: collection === undefined ? null : `${baseUrl}/${collection}/${entry.recordId}`,
  })
}

/** The sentence of an entry, by its kind. */
const SENTENCES: Readonly<Record<TimelineKind, (entry: TimelineEntry) => string>> = {
  status_changed: ({ fromState, toState, reason }) =>
    `The status went from ${fromState ?? ''} to ${toState ?? ''}: ${reason}`,
  check_result_changed: ({ subject, fromState, toState }) =>
    `The check ${subject} went from ${fromState ?? ''} to ${toState ?? ''}.`,
  issue_opened: ({ subject }) => `The issue "${subject}" was opened.`,
  issue_resolved: ({ subject }) => `The issue "${subject}" was resolved.`,
  issue_snoozed: ({ subject }) => `The person put off the issue "${subject}".`,
  exemption_requested: () => 'An exemption was requested.',
  exemption_decided: ({ toState }) => `The request for an exemption was ${toState ?? 'decided'}.`,
  registration_requested: () => 'The registration of the device was requested.',
  registration_decided: ({ toState }) =>
    `The request for the registration was ${toState ?? 'decided'}.`,
  registered: ({ subject }) =>
    subject === '' ? 'The device was registered.' : `The device was registered to ${subject}.`,
  reenrollment_requested: ({ subject }) => `The machine ${subject} asked to enroll as this device.`,
  enrolled: () => 'The agent of the device enrolled.',
  deletion_requested: () => 'The deletion of the device was requested.',
  sign_in: ({ subject, toState }) => describeSignIn(subject, toState),
}

function describeSignIn(application: string, result: string | null): string {
  const what = application === '' ? 'A sign-in' : `A sign-in to ${application}`
  if (result === null) return `${what} began.`
  return result === 'Success' ? `${what} succeeded.` : `${what} was stopped.`
}
