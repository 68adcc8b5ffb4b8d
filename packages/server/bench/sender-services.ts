/*
 * The part of the service that delivers events, as the service itself makes it, on an embedded database
 * of its own: fsync on, the database in its own process.
 */
import { pino } from 'pino'
import { loadConfig } from '../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../src/app/foundation.ts'
import { createParts, openDeliveryDatabase } from '../src/app/parts.ts'
import { createSupervisor } from '../src/app/supervisor.ts'
import { createListener } from '../src/platform/db/listener.ts'
import type { TargetPolicy } from '../src/platform/net/target-policy.ts'
import { createDeliveryPart } from '../src/signals/delivery-part.ts'
import type { DeliverySettings } from '../src/signals/dispatch/delivery-settings.ts'
import type { KeyRing } from '../src/signals/signing/key-ring.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import type { BenchRun } from './scenario.ts'

export interface SenderServices extends Pick<
  ServiceFoundation,
  'db' | 'runChange' | 'sealer' | 'network' | 'ownerConnection'
> {
  readonly keyRing: KeyRing
  readonly targetPolicy: TargetPolicy
  /** What delivers in the service, with connections of its own and the shared client and threads. */
  createEngine(settings?: Partial<DeliverySettings>): BenchEngine
}

/** The delivery of a service. */
export interface BenchEngine {
  start(): Promise<void>
  /** Gives what is in flight its time to end. */
  close(): Promise<void>
}

/** Attempts are logged as in production, to where nobody reads. */
const NOWHERE = '/dev/null'

/** Starts database, signing threads and client; everything ends with the run. */
export async function startSenderServices(run: BenchRun): Promise<SenderServices> {
  const { cleanup } = run
  const config = loadConfig({
    HELIOGRAPH_DATA_DIR: await createTemporaryDataFolder(run),
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
  })
  const log = pino({ level: config.logLevel }, pino.destination({ dest: NOWHERE, sync: false }))
  const foundation = await openFoundation(config, { purpose: 'service', log })
  cleanup.add(() => foundation.close())
  const { outbound, signing } = await createParts(foundation)
  cleanup.add(() => outbound.client.close(0))
  cleanup.add(() => signing.stop())
  await signing.start()
  const { db, runChange, sealer, network, ownerConnection } = foundation
  return {
    db,
    runChange,
    sealer,
    network,
    ownerConnection,
    keyRing: signing.keyRing,
    targetPolicy: outbound.policy,
    createEngine: (settings) => {
      const listener = createListener(foundation.connection, { log, network })
      const database = openDeliveryDatabase(foundation)
      const dependencies = { foundation, database, listener, outbound, signing }
      const delivery = createDeliveryPart(dependencies, config, settings)
      const { start, stop } = createSupervisor([delivery], { listener, network }, log)
      return { start, close: stop }
    },
  }
}
