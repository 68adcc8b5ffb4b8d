/*
 * What this process sees of how receivers take the signing keys: SETs that were accepted under a key,
 * keys that were refused, fetches of the published set. Kept in memory for the decisions of the key
 * ring and written in batches; what a crash loses is seen again with the next SET.
 */
import type { Kysely } from 'kysely'
import { MINUTE_MS, type Clock } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  deleteOldJwksFetches,
  listKeyProofs,
  putJwksFetches,
  putKeyProofs,
  type KeyProofNote,
} from './key-proof-store.ts'

export interface KeyProofs {
  /** The receiver took a SET that the key signed. Cheap: called for every SET. */
  noteAcceptance(destinationId: DestinationId, kid: string, address: string | null): void
  /** The receiver refused the key, in its words. */
  noteRefusal(destinationId: DestinationId, kid: string, refusal: string): void
  /** Somebody fetched the published keys. */
  noteFetch(address: string): void
  /** When the receiver first took a SET that the key signed; undefined when it never did. */
  firstAcceptedAt(destinationId: DestinationId, kid: string): Date | undefined
  /** Reads what other processes saw. */
  refresh(kids: readonly string[]): Promise<void>
  /** Writes what was seen; called on a timer and before the process ends. */
  flush(): Promise<void>
}

/** A proof that is there already is refreshed this often at most. */
const REPEAT_MS = MINUTE_MS
/** Far more addresses than receivers; those that fetched last are kept. */
const FETCHES_MAX = 10_000

export function createKeyProofs({
  db,
  clock,
}: {
  readonly db: Kysely<Schema>
  readonly clock: Clock
}): KeyProofs {
  let firstAccepted = new Map<string, Date>()
  const lastNoted = new Map<string, number>()
  let notes: KeyProofNote[] = []
  let fetches = new Map<string, Date>()

  const keyOf = (destinationId: DestinationId, kid: string) => `${destinationId} ${kid}`

  return {
    noteAcceptance(destinationId, kid, address) {
      const key = keyOf(destinationId, kid)
      const at = clock.now()
      const sinceMs = at.getTime() - (lastNoted.get(key) ?? Number.NEGATIVE_INFINITY)
      if (sinceMs >= 0 && sinceMs < REPEAT_MS) return
      lastNoted.set(key, at.getTime())
      if (!firstAccepted.has(key)) firstAccepted.set(key, at)
      notes.push({ destinationId, kid, at, address, refusal: null })
    },
    noteRefusal(destinationId, kid, refusal) {
      notes.push({ destinationId, kid, at: clock.now(), address: null, refusal })
    },
    noteFetch(address) {
      if (fetches.size < FETCHES_MAX || fetches.has(address)) fetches.set(address, clock.now())
    },
    firstAcceptedAt: (destinationId, kid) => firstAccepted.get(keyOf(destinationId, kid)),
    async refresh(kids) {
      const rows = await listKeyProofs(db, kids)
      const stored = rows.flatMap(({ destinationId, kid, firstAcceptedAt }) =>
        firstAcceptedAt === null ? [] : [[keyOf(destinationId, kid), firstAcceptedAt] as const],
      )
      const unwritten = notes.flatMap(({ destinationId, kid, at, refusal }) =>
        refusal === null ? [[keyOf(destinationId, kid), at] as const] : [],
      )
      firstAccepted = new Map([...unwritten, ...stored])
      for (const key of lastNoted.keys()) if (!firstAccepted.has(key)) lastNoted.delete(key)
    },
    async flush() {
      const seen = notes
      const fetched = fetches
      notes = []
      fetches = new Map()
      await putKeyProofs(db, latestOfEach(seen.filter(({ refusal }) => refusal === null)))
      await putKeyProofs(db, latestOfEach(seen.filter(({ refusal }) => refusal !== null)))
      await putJwksFetches(db, fetched)
      if (fetched.size > 0) await deleteOldJwksFetches(db, FETCHES_MAX)
    },
  }
}

/** The last note per stream and key: a statement may not touch a row twice. */
function latestOfEach(notes: readonly KeyProofNote[]): KeyProofNote[] {
  return [...new Map(notes.map((note) => [`${note.destinationId} ${note.kid}`, note])).values()]
}
