/*
 * Signing keys with what their receivers have proven, as the API and the command line show them.
 */
import type { Kysely } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { findJwksFetches, listKeyProofs, type KeyProof } from './key-proof-store.ts'
import { findStreamKey, isPresent, isPublished, stateOfKey } from './signing-key.ts'
import { listSigningKeyPage, listSigningKeys, type SigningKeyRecord } from './signing-key-store.ts'
import { listStreamKeys } from './stream-key-store.ts'

/** What one receiver has made of a key. */
export type ReceiverProof = ReturnType<typeof viewReceiver>

/** A key with its state and its receivers; a retired key has none. */
export type SigningKeyView = Awaited<ReturnType<typeof viewKeys>>[number]

/** More streams than this are left out of a view, the newest first. */
const RECEIVERS_MAX = 1_000

/** A page of the keys, oldest first. */
export async function listSigningKeyViews(
  db: Kysely<Schema>,
  window: PageWindow,
  now: Date,
): Promise<SigningKeyView[]> {
  return viewKeys(db, await listSigningKeyPage(db, window), now)
}

/** Keys as they are shown. Four statements, whatever their number. */
export async function viewKeys(db: Kysely<Schema>, rows: readonly SigningKeyRecord[], now: Date) {
  const keys = await listSigningKeys(db)
  const streams = await listStreams(db)
  const world = await readWorld(db, keys, rows, now)
  return rows.map((key) => ({
    id: key.id,
    key,
    state: stateOfKey(key, keys, now),
    /** When anybody last fetched the published keys while this one was among them. */
    jwksFetchedAt: notBefore(world.fetches.byAnyone, key.createdAt),
    receivers: isPublished(key, now)
      ? streams.map((stream) => viewReceiver(key, stream, world))
      : [],
  }))
}

/** What one stream has proven of each key that receivers can find, newest key first. */
export async function listProofsOfStream(
  db: Kysely<Schema>,
  stream: Pick<StreamName, 'destinationId' | 'streamId' | 'name'>,
  now: Date,
) {
  const keys = await listSigningKeys(db)
  const published = keys.filter((key) => isPublished(key, now))
  const world = await readWorld(db, keys, published, now)
  return published.map((key) => ({
    key,
    state: stateOfKey(key, keys, now),
    proof: viewReceiver(key, stream, world),
  }))
}

interface StreamName {
  readonly destinationId: DestinationId
  readonly streamId: string
  readonly name: string
}

type KeyWorld = Awaited<ReturnType<typeof readWorld>>

/** What is known of how receivers take those of `rows` that are published. */
async function readWorld(
  db: Kysely<Schema>,
  keys: readonly SigningKeyRecord[],
  rows: readonly SigningKeyRecord[],
  now: Date,
) {
  const kids = rows.filter((key) => isPublished(key, now)).map(({ kid }) => kid)
  const proofs = await listKeyProofs(db, kids)
  const addresses = proofs.flatMap(({ address }) => address ?? [])
  const streamKeys = await listStreamKeys(db)
  return {
    keys,
    now,
    own: new Map(streamKeys.map((row) => [row.destinationId, row])),
    proofs: new Map(proofs.map((proof) => [`${proof.destinationId} ${proof.kid}`, proof])),
    fetches: await findJwksFetches(db, [...new Set(addresses)]),
  }
}

function viewReceiver(key: SigningKeyRecord, stream: StreamName, world: KeyWorld) {
  const { keys, now, own, proofs } = world
  const streamKey = own.get(stream.destinationId)
  return {
    streamId: stream.streamId,
    streamName: stream.name,
    /** Whether the key signs for the stream now. */
    isInUse: findStreamKey(streamKey, keys, now)?.kid === key.kid,
    isCanary: streamKey?.reason === 'canary' && streamKey.kid === key.kid,
    /** Whether the stream went back to another key because its receiver refused this one. */
    isRolledBack: isPresent(streamKey, now) && streamKey.refusedKid === key.kid,
    ...viewProof(key, proofs.get(`${stream.destinationId} ${key.kid}`), world),
  }
}

function viewProof(key: SigningKeyRecord, proof: KeyProof | undefined, { fetches }: KeyWorld) {
  const fetchedAt = fetches.byAddress.get(proof?.address ?? '') ?? null
  return {
    firstAcceptedAt: proof?.firstAcceptedAt ?? null,
    lastAcceptedAt: proof?.lastAcceptedAt ?? null,
    lastRefusedAt: proof?.lastRefusedAt ?? null,
    refusal: proof?.refusal ?? null,
    /** When the published keys were last fetched from where the receiver is; null when never seen. */
    jwksFetchedAt: notBefore(fetchedAt, key.createdAt),
  }
}

/** A fetch from before a key was published says nothing about it. */
function notBefore(time: Date | null, publishedAt: Date): Date | null {
  return time !== null && time >= publishedAt ? time : null
}

async function listStreams(db: Kysely<Schema>): Promise<StreamName[]> {
  return db
    .selectFrom('ssf_stream')
    .select(['destination_id as destinationId', 'stream_id as streamId', 'name'])
    .orderBy('id')
    .limit(RECEIVERS_MAX)
    .execute()
}
