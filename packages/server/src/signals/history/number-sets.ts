/*
 * The numbers of the SETs of a stream. They are given after the changes have committed, in their
 * order, by whoever is about to hand SETs out: a change that numbered its own SETs would hold up
 * every other one until its commit.
 */
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { Stream } from '../streams/stream-store.ts'
import { listSequences, updateSequences, type NumberedStream } from './sequence-store.ts'

/** The numbers of a stream; undefined when it has chosen none. */
export function toNumberedStream(stream: Stream): NumberedStream | undefined {
  if (!stream.isNumbered) return undefined
  return { streamRowId: stream.id, destinationId: stream.destinationId }
}

interface Numberable {
  readonly id: string
  readonly body: string
}

/**
 * The SETs with their numbers in their claims; those that had none are numbered first. SETs of a stream
 * without numbers stay as they are.
 */
export async function withSequences<Delivery extends Numberable>(
  db: Kysely<Schema>,
  stream: NumberedStream | undefined,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  if (stream === undefined) return deliveries
  const ids = deliveries.map(({ id }) => id)
  let sequences = await listSequences(db, ids)
  while (sequences.size < ids.length) {
    const isAny = await updateSequences(db, stream)
    // Read again in any case: another process may have given the numbers meanwhile.
    sequences = await listSequences(db, ids)
    // What is gone has no number to wait for.
    if (!isAny) break
  }
  return deliveries.map((delivery) => {
    const sequence = sequences.get(delivery.id)
    return sequence === undefined
      ? delivery
      : { ...delivery, body: withSequence(delivery.body, sequence) }
  })
}

/**
 * Claims as text with their number: the same bytes for the same number, whoever makes them and
 * however often.
 */
function withSequence(body: string, sequence: string): string {
  return `${body.slice(0, -1)},${JSON.stringify(STREAM_SEQUENCE)}:${sequence}}`
}

/** Numbers everything that waits in a stream and has no number. */
export async function numberAllWaitingSets(
  db: Kysely<Schema>,
  stream: NumberedStream | undefined,
): Promise<void> {
  if (stream === undefined) return
  while (await updateSequences(db, stream));
}
