import { toLogError, type Foundation, type ServicePart } from '../changes/foundation.ts'
import { dueJob, periodicJob } from '../schema/jobs.ts'
import { jwksRoutes } from './signing/jwks-routes.ts'
import { KeyRing } from './signing/key-ring.ts'
import { createRefusedKeys, type RefusedKeys } from './signing/refused-keys.ts'
import { runSigningKeyJob } from './signing/signing-key-job.ts'
import { signingKeyRoutes } from './signing/signing-key-routes.ts'
import {
  SIGNING_KEY_CHANNEL,
  toSigningKeySettings,
  type SigningSettings,
} from './signing/signing-keys.ts'
import { SigningPool } from './signing/signing-pool.ts'

export interface SigningPart extends ServicePart {
  readonly keyRing: KeyRing
  readonly refusedKeys: RefusedKeys
  /** Reads the keys. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The signing keys of a process, the threads that use them, and their rotation. */
export function createSigningPart(foundation: Foundation, settings: SigningSettings): SigningPart {
  const { clock, db, log, runChange, sealer } = foundation
  const logError = toLogError(log)
  const pool = new SigningPool()
  const keyRing = new KeyRing({ db, clock, sealer, pool })
  const refusedKeys = createRefusedKeys({ runChange, clock, keyRing, logError })
  const keySettings = toSigningKeySettings(foundation, settings)
  const { publicationLeadMs } = keySettings
  const rotationDays = settings.signingKeyRotationDays
  const refresh = () => {
    keyRing.refresh().catch((error: unknown) => logError(error, 'the signing keys were not read'))
  }
  return {
    name: 'signing keys',
    roles: ['api', 'worker'],
    keyRing,
    refusedKeys,
    operations: [
      ...jwksRoutes({ keyRing, publicationLeadMs }),
      ...signingKeyRoutes({ ...keySettings, db, clock, runChange, onKeysChanged: refresh }),
    ],
    channels: { [SIGNING_KEY_CHANNEL]: refresh },
    onReconnect: refresh,
    jobs: [
      periodicJob('signing keys', () => keyRing.refresh()),
      periodicJob('signing key proofs', () => keyRing.proofs.flush()),
      dueJob('signing key rotation', () =>
        runSigningKeyJob({ ...keySettings, db, clock, runChange, rotationDays }),
      ),
    ],
    // Throws while there is no key to sign with.
    health: async () => void keyRing.activeKid(),
    start: () => keyRing.refresh(),
    stop: async () => {
      try {
        await refusedKeys.idle()
        await keyRing.proofs.flush()
      } finally {
        await pool.close()
      }
    },
  }
}
