/*
 * What polls show of signing keys: an acknowledged SET proves its key, and a SET that is reported as
 * refused because of its key is signed with another one as long as that can help.
 */
import type { Kysely } from 'kysely'
import { repeatAfterConflict } from '../../platform/db/transient-conflict.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { isKeyRefusal, type KeyRefusal } from '../signing/judge-key-refusal.ts'
import type { RefusedKeys } from '../signing/refused-keys.ts'
import { listSigningKids, rebindSets } from './poll-store.ts'

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
  destinationId: DestinationId,
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
  const judgements = new Map<string, KeyRefusal>()
  for (const { eventId, kid } of await listSigningKids(db, destinationId, [...words.keys()])) {
    const refusal = words.get(eventId) ?? ''
    judgements.set(eventId, refusedKeys.onRefused({ destinationId, kid, refusal }))
  }
  await refusedKeys.idle()
  const rebound = [...judgements].flatMap(([eventId, judgement]) =>
    judgement.kind === 'resign'
      ? [{ eventId, kid: judgement.kid, error: words.get(eventId) ?? '' }]
      : [],
  )
  await repeatAfterConflict(() => rebindSets(db, destinationId, rebound))
  return judgements
}
