import type { FastifyInstance } from 'fastify'
import { DEVICE_CHANNEL } from '../devices/device-store.ts'
import type { Listener } from '../platform/db/listener.ts'
import { createContactRecorder } from './contact-recorder.ts'
import { createNodeCache } from './node-cache.ts'
import { findNode } from './node-store.ts'
import { registerOsqueryRoutes, type OsqueryRoutesDependencies } from './register-osquery-routes.ts'

export interface AgentIntakeDependencies extends Omit<
  OsqueryRoutesDependencies,
  'nodes' | 'contacts'
> {
  readonly listener: Pick<Listener, 'subscribe' | 'onReconnect'>
  readonly logError: (error: unknown, message: string) => void
}

/** The agent intake of one process. */
export interface AgentIntake {
  /** Registers the agent routes; before the app listens. */
  register(app: FastifyInstance): void
  /** Begins to write contacts and to hear of changes of devices. */
  start(): void
  /** Forgets the subscriptions and writes the last contacts. */
  stop(): Promise<void>
}

/**
 * Puts the agent intake together: routes, the memory of nodes, and the writer of contacts. Whenever
 * notifications may have been missed, everything that is remembered of nodes is looked up again.
 */
export function createAgentIntake(deps: AgentIntakeDependencies): AgentIntake {
  const nodes = createNodeCache({
    clock: deps.clock,
    settings: deps.settings,
    findNode: (keyHash) => findNode(deps.db, keyHash),
  })
  const contacts = createContactRecorder(deps.db, deps.logError)
  let unsubscribe: readonly (() => void)[] = []
  return {
    register: (app) => registerOsqueryRoutes(app, { ...deps, nodes, contacts }),
    start() {
      if (unsubscribe.length > 0) return
      unsubscribe = [
        deps.listener.subscribe(DEVICE_CHANNEL, (deviceId) => nodes.invalidate(deviceId)),
        deps.listener.onReconnect(() => nodes.invalidate('all')),
      ]
      contacts.start()
    },
    async stop() {
      for (const end of unsubscribe) end()
      unsubscribe = []
      await contacts.stop()
    },
  }
}
