import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { upsertContacts } from './contact-store.ts'

/** Remembers contacts and writes them in batches, so that no check-in waits for the database. */
export interface ContactRecorder {
  recordContact(deviceId: string, atMs: number, ipAddress: string): void
  start(): void
  /** Writes what is remembered; a failed write is remembered for the next one. */
  flush(): Promise<void>
  /** Ends the timer and writes what is left. */
  stop(): Promise<void>
}

const FLUSH_INTERVAL_MS = 2 * SECOND_MS
const BATCH_SIZE = 2_000

interface Contact {
  atMs: number
  ipAddress: string
}

/** Creates the recorder. What it holds between two flushes is lost when the process dies. */
export function createContactRecorder(
  db: Kysely<Schema>,
  logError: (error: unknown, message: string) => void,
): ContactRecorder {
  const contacts = new Map<string, Contact>()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const due = [...contacts]
    for (let start = 0; start < due.length; start += BATCH_SIZE) {
      const batch = due.slice(start, start + BATCH_SIZE)
      await upsertContacts(
        db,
        batch.map(([deviceId, { atMs, ipAddress }]) => ({
          deviceId,
          lastSeenAtMs: atMs,
          ipAddress,
        })),
      )
      for (const [deviceId, contact] of batch) {
        if (contacts.get(deviceId) === contact) contacts.delete(deviceId)
      }
    }
  }

  const recorder: ContactRecorder = {
    recordContact(deviceId, atMs, ipAddress) {
      contacts.set(deviceId, { atMs, ipAddress })
    },
    start() {
      timer ??= setInterval(() => {
        recorder.flush().catch((error: unknown) => logError(error, 'contacts could not be written'))
      }, FLUSH_INTERVAL_MS)
    },
    flush() {
      flushing = flushing.catch(() => undefined).then(write)
      return flushing
    },
    async stop() {
      clearInterval(timer)
      timer = undefined
      await recorder.flush().catch((error: unknown) => {
        logError(error, 'the last contacts could not be written')
      })
    },
  }
  return recorder
}
