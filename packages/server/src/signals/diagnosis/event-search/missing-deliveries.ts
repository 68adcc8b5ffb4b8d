/*
 * Why a stream or a webhook has no delivery of what happened, by how it is configured now: how it was configured
 * then is not kept. Decides nothing; the publishers do.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { DeviceStatusChange } from '../../../changes/domain-event.ts'
import type { Stream } from '../../streams/stream-store.ts'
import type { IsWanted } from '../../subjects/filter-events.ts'
import type { WebhookRecord } from '../../webhooks/webhook-store.ts'

/** Why there is no delivery. */
export const MISSING_RULES = [
  'word_unchanged',
  'created_later',
  'stream_disabled',
  'event_not_requested',
  'subject_not_included',
  'no_owner',
  'damped',
  'webhook_off',
  'not_subscribed',
  'nobody_subscribed',
  'unknown',
] as const

export interface Missing {
  readonly rule: (typeof MISSING_RULES)[number]
  readonly reason: string
}

const UNKNOWN: Missing = {
  rule: 'unknown',
  reason:
    'Nothing in the present configuration stands in the way: it may have been configured otherwise then, or the delivery has been deleted after its time.',
}

/** A change of compliance that a stream was told nothing of. */
export interface UntoldChange {
  readonly device: DeviceStatusChange['device']
  readonly occurredAt: Date
  readonly isCompliant: boolean
}

/** Why a stream has no delivery of a change of compliance. */
export function explainStreamSilence(
  stream: Stream,
  { device, occurredAt, isCompliant }: UntoldChange,
  isWanted: IsWanted,
): Missing {
  if (stream.createdAt > occurredAt) {
    return { rule: 'created_later', reason: 'The stream was created afterwards.' }
  }
  if (stream.status === 'disabled') {
    return {
      rule: 'stream_disabled',
      reason: 'The stream is disabled: nothing is sent or kept for it.',
    }
  }
  if (!stream.eventsRequested.includes(DEVICE_COMPLIANCE_CHANGE)) {
    return {
      rule: 'event_not_requested',
      reason: 'The stream has not asked for changes of compliance.',
    }
  }
  if (!isWanted(stream, { device })) {
    const reason =
      stream.defaultSubjects === 'NONE'
        ? 'The receiver has not added the device or its owner as a subject.'
        : 'The receiver has removed the device or its owner as a subject.'
    return { rule: 'subject_not_included', reason }
  }
  if (stream.subjectForm !== 'complex' && device.owner === null) {
    return { rule: 'no_owner', reason: 'The stream names people, and nobody owns the device.' }
  }
  if (stream.debounceSeconds > 0 && isCompliant) {
    return {
      rule: 'damped',
      reason: `The stream holds good news back for ${stream.debounceSeconds} seconds, and they did not last.`,
    }
  }
  return UNKNOWN
}

/** Why a webhook has no delivery of an event. */
export function explainWebhookSilence(
  webhook: WebhookRecord,
  event: { readonly eventType: string; readonly createdAt: Date },
): Missing {
  if (webhook.createdAt > event.createdAt) {
    return { rule: 'created_later', reason: 'The webhook was created afterwards.' }
  }
  if (!webhook.events.includes(event.eventType)) {
    return {
      rule: 'not_subscribed',
      reason: `The webhook does not ask for \`${event.eventType}\`.`,
    }
  }
  if (!webhook.enabled) {
    return {
      rule: 'webhook_off',
      reason: 'The webhook is off; what it has missed can be recovered.',
    }
  }
  return UNKNOWN
}
