/*
 * What polls tell of signing keys: an acknowledged SET proves its key, and a SET that is reported as
 * refused because of its key is signed with another one as long as that can help.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { isKeyRefusal } from '../signing/is-key-refusal.ts'
import type { KeyRefusal } from '../signing/judge-key-refusal.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'

/** An error that a receiver reports about a SET. */
export interface ReportedSetError {
  readonly eventId: string
  readonly err: string
  readonly description?: string
}

/**
 * Judges the reported errors that are about keys, has SETs signed anew where that is the answer, and
 * answers the judgements by event id. Ids of other streams and finished SETs have none.
 */
export async function judgeReportedKeys(
  db: Kysely<Schema>,
  destinationId: string,
  errors: readonly ReportedSetError[],
  refusedKeys: RefusedKeys,
): Promise<ReadonlyMap<string, KeyRefusal>> {
  const words = new Map(
    errors
      .filter(({ err, description = '' }) => isKeyRefusal(err, description))
      .map(({ eventId, err, description }) => [
        eventId,
        description === undefined ? err : `${err}: ${description}`,
      ]),
  )
  if (words.size === 0) return new Map()
  const rows = await db
    .selectFrom('delivery')
    .select(['event_id', 'signing_kid'])
    .where('event_id', '=', sql<string>`any(${[...words.keys()]}::text[])`)
    .where('destination_id', '=', destinationId)
    .where('state', '=', 'queued')
    .execute()
  const judgements = new Map<string, KeyRefusal>()
  for (const { event_id: eventId, signing_kid: kid } of rows) {
    if (kid === null) continue
    const refusal = words.get(eventId) ?? ''
    judgements.set(eventId, refusedKeys.onRefused({ destinationId, kid, refusal }))
  }
  await refusedKeys.idle()
  await bindAnew(db, destinationId, judgements, words)
  return judgements
}

async function bindAnew(
  db: Kysely<Schema>,
  destinationId: string,
  judgements: ReadonlyMap<string, KeyRefusal>,
  words: ReadonlyMap<string, string>,
): Promise<void> {
  const bound = [...judgements].flatMap(([eventId, judgement]) =>
    judgement.kind === 'resign' ? [{ eventId, kid: judgement.kid }] : [],
  )
  if (bound.length === 0) return
  await sql`
    update delivery d
    set signing_kid = anew.kid, token = null, attempt_count = d.attempt_count + 1,
      last_error = anew.error
    from unnest(${bound.map(({ eventId }) => eventId)}::text[],
      ${bound.map(({ kid }) => kid)}::text[],
      ${bound.map(({ eventId }) => words.get(eventId) ?? '')}::text[]) as anew (event_id, kid, error)
    where d.event_id = anew.event_id and d.destination_id = ${destinationId}
      and d.state = 'queued'`.execute(db)
}
