import { SESSION_REVOKED } from '@heliograph/ssf'
import type { ChangeRecord } from '../../changes/change.ts'
import type { DomainEvent, DomainEventOf } from '../../changes/domain-event.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { listReceivingStreams } from '../streams/stream-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'
import { toSessionRevokedClaims } from './set-claims.ts'

/** How many deliveries one statement queues: far below the number of parameters that it may have. */
const BATCH_SIZE = 1_000

/**
 * Queues, for each granted session of an application that has ended before its time, one SET per stream that asked for
 * revoked sessions, is not disabled, and whose receiver wants the subject. Costs nothing when no session has ended.
 */
export async function publishEndedSessions(
  record: ChangeRecord,
  sealer: Pick<Sealer, 'open'>,
): Promise<void> {
  const ended = record.events.flatMap((event) => toEndedSession(event) ?? [])
  if (ended.length === 0) return
  const streams = await listReceivingStreams(record.tx, SESSION_REVOKED)
  if (streams.length === 0) return
  const subjects = ended.map((session) => ({ session, ...toSubject(session) }))
  const isWanted = await readSubjectFilter(record.tx, streams, subjects, sealer)
  const deliveries = streams.flatMap((stream) =>
    subjects
      .filter((subject) => isWanted(stream, subject))
      .map(({ session }) => {
        const eventId = newUuid()
        const txn = record.txnOf(session)
        const cause = { at: record.at, txn }
        return {
          destinationId: stream.destinationId,
          eventId,
          eventType: SESSION_REVOKED,
          subjectKey: `session:${session.sessionId}`,
          body: toSessionRevokedClaims(stream, eventId, session, cause, sealer),
          txn,
        }
      }),
  )
  for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
    await queueDeliveries(record, deliveries.slice(start, start + BATCH_SIZE))
  }
}

/** The sessions of the pages of a person are nobody else's business. */
function toEndedSession(event: DomainEvent): DomainEventOf<'sign_in_session.ended'> | undefined {
  return event.type === 'sign_in_session.ended' && event.applicationId !== null ? event : undefined
}

function toSubject({ deviceId, person }: DomainEventOf<'sign_in_session.ended'>) {
  return { device: { id: deviceId, owner: { personId: person.id, email: person.email } } }
}
