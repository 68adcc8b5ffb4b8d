import type { DomainEventOf } from '../../changes/domain-event.ts'
import { payload, toUrl, type PayloadContext, type WebhookPayload } from './payload-parts.ts'

/** What webhooks are told of the end of a sign-in. */
export function toSignInPayloads(
  event: DomainEventOf<'auth_logs.success' | 'auth_logs.failure'>,
  context: PayloadContext,
): WebhookPayload[] {
  const { sessionId, personId, device } = event
  const data = {
    auth_log_url: toUrl(context, 'auth_logs', sessionId),
    browser_name: event.browserName,
    browser_version: event.browserVersion,
    device_id: device === null ? null : Number(device.id),
    device_name: device?.name ?? null,
    launcher_version: event.agentVersion,
    person_id: personId === null ? null : Number(personId),
  }
  return [payload(event.type, ['auth_log', sessionId], context.at, data)]
}
