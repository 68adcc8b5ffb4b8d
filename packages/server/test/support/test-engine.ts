/* Delivery engines for tests that are not about what surrounds an engine. */
import { createChangeRunner } from '../../src/changes/change.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { TopicSink } from '../../src/platform/live/topic-notifier.ts'
import { newUuid } from '../../src/platform/ids.ts'
import {
  DeliveryEngine,
  type DeliveryEngineDependencies,
} from '../../src/signals/dispatch/delivery-engine.ts'
import type { WorkerPresence } from '../../src/signals/dispatch/worker-presence.ts'

const nothing = () => undefined

/** A log that keeps nothing. */
export const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** A worker that nobody looks after: what it has claimed when it dies waits for its lease. */
export const UNSEEN_WORKER: WorkerPresence = {
  newClaimId: newUuid,
  start: () => Promise.resolve(),
  releaseDead: () => Promise.resolve([]),
  isFirstFor: () => true,
  close: () => Promise.resolve(),
}

/** Nobody watches what changes. */
export const UNWATCHED: TopicSink = { tell: () => undefined }

type Needed = Pick<DeliveryEngineDependencies, 'db' | 'client' | 'channels'>

/** An engine that is not started yet, on the system's clock and unseen by others unless told otherwise. */
export function createTestEngine(
  dependencies: Needed & Partial<DeliveryEngineDependencies>,
): DeliveryEngine {
  const { db, clock = systemClock } = dependencies
  return new DeliveryEngine({
    clock,
    log: SILENT,
    settings: {},
    runChange: createChangeRunner(db, clock, []),
    presence: UNSEEN_WORKER,
    topics: UNWATCHED,
    ...dependencies,
  })
}
