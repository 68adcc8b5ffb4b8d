import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Listener } from '../../platform/db/listener.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { startDueJob } from '../../platform/jobs/due-job.ts'
import { startPeriodicJob, type PeriodicJob } from '../../platform/jobs/periodic-job.ts'
import type { Services } from '../services.ts'
import { jwksRoutes } from '../../signals/signing/jwks-routes.ts'
import type { KeyRing } from '../../signals/signing/key-ring.ts'
import { runSigningKeyJob } from '../../signals/signing/signing-key-job.ts'
import { signingKeyRoutes } from '../../signals/signing/signing-key-routes.ts'
import {
  SIGNING_KEY_CHANNEL,
  type SigningKeyDependencies,
} from '../../signals/signing/signing-keys.ts'

type KeyServices = Pick<Services, 'config' | 'db' | 'clock' | 'sealer' | 'runChange'>

/** How keys are made and for how long they are published before they sign. */
export function toSigningKeySettings({
  config,
  sealer,
}: Pick<Services, 'config' | 'sealer'>): SigningKeyDependencies {
  const publicationLeadMs = config.signingKeyLeadSeconds * SECOND_MS
  return { sealer, modulusBits: config.signingKeyBits, publicationLeadMs }
}

/** The published keys, and the operations on them. */
export function composeSigningKeyRoutes(services: KeyServices, keyRing: KeyRing): ApiRoute[] {
  const { db, clock, runChange } = services
  const settings = toSigningKeySettings(services)
  return [
    ...jwksRoutes({ keyRing, publicationLeadMs: settings.publicationLeadMs }),
    ...signingKeyRoutes({
      ...settings,
      db,
      clock,
      runChange,
      // What fails here is repeated within a minute.
      onKeysChanged: () => void keyRing.refresh().catch(() => undefined),
    }),
  ]
}

/**
 * Keeps the keys of this process in step with the tables, writes what it sees of receivers, and on a
 * worker rotates by the schedule.
 */
export function startSigningKeyJobs(
  services: Services,
  keyRing: KeyRing,
  listener: Listener,
  { isWorker, wake }: { readonly isWorker: boolean; readonly wake: WakeDelivery },
): PeriodicJob[] {
  const { clock, config, db, log, runChange } = services
  const logError = (error: unknown, message: string) => log.error({ err: error }, message)
  const refresh = () => {
    keyRing.refresh().catch((error: unknown) => logError(error, 'the signing keys were not read'))
  }
  listener.subscribe(SIGNING_KEY_CHANNEL, refresh)
  listener.onReconnect(refresh)
  const proofs = startPeriodicJob({
    name: 'signing key proofs',
    intervalMs: 5 * SECOND_MS,
    run: () => keyRing.proofs.flush(),
    logError,
  })
  if (!isWorker) return [proofs]
  const rotation = startDueJob({
    name: 'signing key rotation',
    clock,
    run: () =>
      runSigningKeyJob({
        ...toSigningKeySettings(services),
        db,
        clock,
        runChange,
        wake,
        rotationDays: config.signingKeyRotationDays,
      }),
    logError,
  })
  return [proofs, rotation]
}
