/*
 * Which topics a change is about: the records that its audit entries and events name, and those that it marks
 * itself. Told after the commit, to whoever watches; owns nothing of how.
 */
import type { TopicSink } from '../../platform/live/topic-notifier.ts'
import { collectionOfTarget, type LiveTopic } from '../../schema/live-topics.ts'
import type { AuditFields } from '../audit/audit-entry.ts'
import type { ChangePublisher } from '../change.ts'
import type { DomainEvent } from '../domain-event.ts'

/** Tells of every change once it is durable. */
export function createTopicPublisher(sink: TopicSink): ChangePublisher {
  return async ({ auditEntries, events, markedTopics, afterCommit }) => {
    const topics = [
      ...markedTopics,
      ...auditEntries.flatMap(topicsOfEntry),
      ...events.flatMap(topicsOfEvent),
    ]
    if (topics.length > 0) afterCommit(() => sink.tell(topics))
  }
}

function topicsOfEntry({ target_type: type, target_id: id }: AuditFields): LiveTopic[] {
  const collection = type === null ? undefined : collectionOfTarget(type)
  if (collection === undefined) return ['audit_logs']
  // Of the organisation there is one: what shows a part of it needs no id.
  const isWhole = id === null || collection === 'organisation'
  return ['audit_logs', isWhole ? collection : `${collection}:${id}`]
}

/** Of events that leave no audit entry under the name of their record. */
function topicsOfEvent(event: DomainEvent): LiveTopic[] {
  switch (event.type) {
    case 'issues.new':
    case 'issues.resolved':
      return [`issues:${event.issueId}`]
    case 'auth_logs.success':
    case 'auth_logs.failure':
      return [`auth_logs:${event.sessionId}`]
    case 'device.status_changed':
      return [`devices:${event.device.id}`]
    case 'sign_in_session.granted':
    case 'sign_in_session.ended':
      return [`sign_in_sessions:${event.sessionId}`]
    case 'webhook.failing':
    case 'webhook.disabled':
    case 'webhook.enabled':
      return [`webhooks:${event.webhookId}`]
    default:
      return []
  }
}
