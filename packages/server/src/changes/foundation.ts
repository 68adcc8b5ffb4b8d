import type { Kysely } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { TopicSink } from '../platform/live/topic-notifier.ts'
import type { Part } from '../platform/part.ts'
import type { Sealer } from '../platform/secrets/sealed-box.ts'
import type { ProcessRole } from '../schema/process-role.ts'
import type { Schema } from '../schema/schema.ts'
import type { RunChange } from './change.ts'

/** What every part of the service stands on. */
export interface Foundation {
  readonly clock: Clock
  readonly log: Logger
  /** Plans each statement for its values, as lists need it. */
  readonly db: Kysely<Schema>
  /** The same connections for statements that run over and over. */
  readonly preparedDb: Kysely<Schema>
  readonly sealer: Sealer
  readonly runChange: RunChange
  /** Tells every process what has changed, where that is no change of its own. */
  readonly topics: TopicSink
}

/** What operations that read and change records stand on. */
export interface RouteFoundation extends Pick<Foundation, 'db' | 'runChange'> {
  readonly baseUrl: string
}

/** A part of this service. */
export type ServicePart = Part<ProcessRole>

/** Logs a failure that nobody waits for. */
export type LogError = (error: unknown, message: string) => void

export function toLogError(log: Pick<Logger, 'error'>): LogError {
  return (error, message) => log.error({ err: error }, message)
}
