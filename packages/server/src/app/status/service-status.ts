import type { DatabaseOrigin, Standby } from '../backup/database-origin-store.ts'
import type { SeenProcess } from '../presence/process-store.ts'
import type { QueueFigures } from './status-read.ts'

/** A process, and whether it still says that it is there. */
export interface ProcessStatus extends SeenProcess {
  readonly isMissing: boolean
}

/** A job that one process does for all, and that was not done in time or failed. */
export interface LateJob {
  readonly name: string
  readonly intervalMs: number
  /** Null where it has never begun. */
  readonly startedAt: Date | null
  readonly error: string | null
}

export interface ServiceStatus {
  readonly processes: readonly ProcessStatus[]
  readonly schemaVersion: number
  readonly queues: readonly QueueFigures[]
  readonly lag: {
    /** Entries that wait for their place in the audit chain; counted up to a limit. */
    readonly unchainedEntryCount: number
    readonly oldestUnchainedMs: number | null
    readonly unnumberedSetCount: number
    readonly oldestDueStatusMs: number | null
  }
  readonly replication: {
    readonly isPrimary: boolean
    /** Undefined where the server does not tell. */
    readonly origin: DatabaseOrigin | undefined
    readonly standbys: readonly Standby[]
  }
  readonly lateJobs: readonly LateJob[]
  /** What somebody should look at, in words; none when the service is well. */
  readonly problems: readonly string[]
}
