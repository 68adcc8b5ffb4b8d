/*
 * Starts the parts of a process in order and stops them in reverse, whatever fails on the way. Listens
 * to the database for them, and collects what they say of their health. Does not know what the parts do.
 */
import { CleanupStack } from '../platform/cleanup-stack.ts'
import { SECOND_MS } from '../platform/clock.ts'
import type { DatabaseNetwork } from '../platform/db/database-network.ts'
import type { Listener } from '../platform/db/listener.ts'
import type { ReadinessCheck } from '../platform/http/health.ts'
import type { Part } from '../platform/part.ts'

/** Longer than stopping takes while the database answers. */
const STOP_PATIENCE_MS = 8 * SECOND_MS

/** The part of a logger that is needed here. */
export interface SupervisorLog {
  error(fields: object, message: string): void
}

/** What the parts and their supervisor wait for. */
export interface SupervisedDatabase {
  readonly listener: Listener
  /** Ends what waits for the database when stopping takes too long: it may be away. */
  readonly network: Pick<DatabaseNetwork, 'close'>
}

export interface Supervisor {
  /**
   * Starts every part. When one cannot start, it and those before it are stopped, and its error is
   * thrown.
   */
  readonly start: () => Promise<void>
  /** Stops every part that was started; all are tried. Throws what went wrong. Safe to call twice. */
  readonly stop: () => Promise<void>
}

/**
 * Notifications only hasten deliveries, polls and check-ins, so that a reconnect is no fault. A process that
 * has heard nothing for longer than this may miss what was switched off, and runs no jobs for the others.
 */
const DISCONNECTED_MAX_MS = 30 * SECOND_MS

/** What `/readyz` asks: the listener and the parts that can be unwell, by their names in snake case. */
export function collectHealth(
  parts: readonly Part[],
  listener: Pick<Listener, 'disconnectedForMs'>,
): Readonly<Record<string, ReadinessCheck>> {
  const checks: Record<string, ReadinessCheck> = {
    listener: async () => {
      const disconnectedForMs = listener.disconnectedForMs()
      if (disconnectedForMs > DISCONNECTED_MAX_MS)
        throw new Error(`has not listened for ${disconnectedForMs} ms`)
    },
  }
  for (const { name, health } of parts) {
    if (health !== undefined) checks[name.replaceAll(' ', '_')] = health
  }
  return checks
}

/** Supervises these parts; the listener starts first and stops last. */
export function createSupervisor(
  parts: readonly Part[],
  { listener, network }: SupervisedDatabase,
  log: SupervisorLog,
): Supervisor {
  const cleanup = new CleanupStack()
  let stopping: Promise<void> | undefined

  async function startAll(): Promise<void> {
    cleanup.add(() => listener.stop())
    listener.start()
    await listener.whenListening()
    for (const part of parts) await startPart(part)
  }

  async function startPart(part: Part): Promise<void> {
    const { channels = {}, onReconnect, start, stop } = part
    if (stop !== undefined) cleanup.add(() => stop())
    const subscriptions = Object.entries(channels).map(([channel, handler]) =>
      listener.subscribe(channel, handler),
    )
    if (onReconnect !== undefined) subscriptions.push(listener.onReconnect(onReconnect))
    for (const unsubscribe of subscriptions) cleanup.add(async () => unsubscribe())
    // What is told from here on is heard; what was told before, the part reads when it starts.
    if (subscriptions.length > 0) await listener.whenListening()
    await start?.()
  }

  async function stopAll(): Promise<void> {
    cleanup.add(async () => {
      for (const { endWaiting } of parts) endWaiting?.()
    })
    const timer = setTimeout(() => network.close('the service stops'), STOP_PATIENCE_MS)
    try {
      await cleanup.run()
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    start: async () => {
      try {
        await startAll()
      } catch (error) {
        await stopAll().catch((failure: unknown) => {
          log.error({ err: failure }, 'not everything that had started could be stopped')
        })
        throw error
      }
    },
    stop: () => (stopping ??= stopAll()),
  }
}
