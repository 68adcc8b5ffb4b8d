/*
 * For how long the rows of a table are kept, as data. Parts give policies to the sweep, which goes through
 * the tables. Owns neither which policies there are nor when a table is gone through.
 */
import type { Kysely, QueryExecutorProvider } from 'kysely'

/** Where the next batch of a pass begins: the values of the columns that it follows, as texts. */
export type RetentionPlace = readonly string[]

/** What one batch may do. */
export interface RetentionWindow {
  /** What is older than this has had its time. */
  readonly before: Date
  /**
   * What is in a partition whose last row is older than this is left, to end all together; nothing is by default.
   */
  readonly soon?: Date
  /** Null for the first batch of a pass. */
  readonly after: RetentionPlace | null
  /** Rows that the batch looks at, and at most as many that it ends. */
  readonly limit: number
}

/** What one batch has done. */
export interface RetentionBatch {
  /** Rows that it deleted, or whose contents it deleted. */
  readonly count: number
  /** Where the next one begins; null for the beginning. */
  readonly place: RetentionPlace | null
  /** Nothing behind is old enough: the pass is over. */
  readonly isOver: boolean
}

/** Ends rows that have had their time, in one short transaction. Idempotent. */
export type RunRetentionBatch = (
  tx: QueryExecutorProvider,
  window: RetentionWindow,
) => Promise<RetentionBatch>

/** Ends the partitions of which every row has had its time and nobody holds one. Idempotent. */
export type EndPartitions = <Tables>(db: Kysely<Tables>, before: Date) => Promise<number>

/** For how long the rows of a table are kept, and how they end. */
export interface RetentionPolicy {
  /** Unique, and the same in every version: how far its pass is, is remembered by it. */
  readonly name: string
  /** How old a row may become, in milliseconds; null keeps it for ever. */
  readonly keepsMs: number | null
  /** From the end of one pass to the beginning of the next. */
  readonly passEveryMs: number
  readonly batchSize: number
  readonly runBatch: RunRetentionBatch
  /** A pass begins where the last one ended, because rows stay after they were emptied. */
  readonly isResumed?: boolean
  /** What is to be done before a pass begins. */
  readonly preparePass?: (before: Date) => Promise<void>
  /** Ends whole partitions, before a pass begins over the rows of the others. Answers how many rows they had. */
  readonly endPartitions?: EndPartitions
}
