import type { WakeDelivery } from '../../signals/dispatch/enqueue-deliveries.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { startDueJob, type DueJob } from '../../platform/jobs/due-job.ts'
import type { Services } from '../services.ts'
import { explainRoutes } from '../../signals/diagnosis/explain/explain-routes.ts'
import { sendDueHeartbeats } from '../../signals/diagnosis/health/heartbeat.ts'
import {
  streamHealthRoutes,
  strictHealthEndpoints,
} from '../../signals/diagnosis/health/stream-health-routes.ts'
import {
  selfTestRoutes,
  strictSelfTestEndpoints,
} from '../../signals/diagnosis/self-test/self-test-routes.ts'
import type { StrictEndpoint } from '../../surfaces/standard-ssf/strict-endpoint.ts'
import type { Outbound } from './outbound.ts'
import type { Signing } from './ssf.ts'
import { composeStatus } from './status.ts'

type CheckServices = Pick<Services, 'db' | 'clock' | 'sealer' | 'runChange'>

/** What the operations that look into a stream share with the rest of the process. */
export interface StreamCheckParts {
  readonly signing: Pick<Signing, 'keyRing'>
  readonly outbound: Pick<Outbound, 'client'>
  readonly wake: WakeDelivery
}

/** Health, self-test and explanation of streams, for operators. */
export function composeStreamChecks(
  { db, clock, sealer, runChange }: CheckServices,
  { signing, outbound, wake }: StreamCheckParts,
): ApiRoute[] {
  const { keyRing } = signing
  const { onDeviceStatusChanged } = composeStatus({ sealer })
  return [
    ...streamHealthRoutes({ db, clock }),
    ...selfTestRoutes({ db, clock, runChange, sealer, keyRing, client: outbound.client }),
    ...explainRoutes({ runChange, wake, sealer, onDeviceStatusChanged }),
  ]
}

/** Health and self-test for the receivers of the strict face. */
export function composeStrictChecks(
  { db, clock, sealer, runChange }: CheckServices,
  { signing, outbound }: Pick<StreamCheckParts, 'signing' | 'outbound'>,
): StrictEndpoint[] {
  const { keyRing } = signing
  return [
    ...strictHealthEndpoints({ db, clock }),
    ...strictSelfTestEndpoints({ db, clock, runChange, sealer, keyRing, client: outbound.client }),
  ]
}

/** Sends heartbeats when they are due. */
export function startHeartbeats(services: Services, wake: WakeDelivery): DueJob {
  const { clock, db, log, runChange } = services
  return startDueJob({
    name: 'stream heartbeats',
    clock,
    run: () => sendDueHeartbeats({ db, clock, runChange, wake }),
    logError: (error, message) => log.error({ err: error }, message),
  })
}
