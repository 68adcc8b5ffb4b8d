/*
 * The rounds: each waits until a process has acknowledged something since it began, then a random moment, and kills it;
 * in part of the rounds with the embedded database, in part with the receiver.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../high-availability/child-processes.ts'
import type { KilledService } from './killed-service.ts'
import type { Receiver } from './receiver.ts'
import { createSeededRandom } from './seeded-random.ts'

/** How long a process may take to acknowledge something after its start. */
const ACKNOWLEDGES_MAX_MS = 30_000
const WORK_MAX_MS = 1_000
/** The process with the database is killed after so many rounds of the others: while it is away, nobody works. */
const OWNER_ROUNDS = { least: 5, most: 45 }
const OWNER_WAITS_MAX_MS = 60 * 60 * 1_000
const RIGHT_AFTER_SHARE = 0.5
const RIGHT_AFTER_MAX_MS = 2_000
const DATABASE_SHARE = 0.7
const RECEIVER_SHARE = 0.1

export interface RoundCounts {
  rounds: number
  /** Kills right after an acknowledgement: what is not durable then is lost. */
  rightAfter: number
  database: number
  receiver: number
  /** Rounds whose process had acknowledged nothing since its start. */
  idle: number
}

export interface RoundsOptions {
  readonly count: number
  readonly seed: number
  /** The first has the database. */
  readonly services: readonly KilledService[]
  readonly receiver: Receiver
  readonly signal: AbortSignal
  readonly onRound: (counts: RoundCounts) => void
}

/** Goes through the rounds, those of different processes beside each other; all run in the end. */
export async function runRounds(options: RoundsOptions): Promise<RoundCounts> {
  const counts = { rounds: 0, rightAfter: 0, database: 0, receiver: 0, idle: 0 }
  await Promise.all(
    options.services.map((service, at) => runRoundsOf(service, at, options, counts)),
  )
  return counts
}

async function runRoundsOf(
  service: KilledService,
  at: number,
  { count, seed, receiver, signal, onRound }: RoundsOptions,
  counts: RoundCounts,
): Promise<void> {
  const random = createSeededRandom(seed + at)
  const hasDatabase = at === 0
  const isOver = () => counts.rounds >= count || signal.aborted
  while (!isOver()) {
    if (hasDatabase) {
      const turn = counts.rounds + random.between(OWNER_ROUNDS.least, OWNER_ROUNDS.most)
      await waitUntil(() => counts.rounds >= turn || isOver(), OWNER_WAITS_MAX_MS, 'other rounds')
      if (isOver()) break
    }
    counts.rounds += 1
    if (!(await service.acknowledgesWithin(ACKNOWLEDGES_MAX_MS))) counts.idle += 1
    await sleep(random.between(0, WORK_MAX_MS))
    const isDatabaseKilled = random.happens(DATABASE_SHARE) && hasDatabase
    const isReceiverKilled = random.happens(RECEIVER_SHARE)
    if (random.happens(RIGHT_AFTER_SHARE)) {
      if (await service.acknowledgesWithin(RIGHT_AFTER_MAX_MS)) counts.rightAfter += 1
    }
    const killed = service.kill(isDatabaseKilled)
    if (isDatabaseKilled) counts.database += 1
    if (isReceiverKilled) {
      counts.receiver += 1
      await receiver.killAndStart()
    }
    await killed
    await service.start()
    onRound(counts)
  }
}
