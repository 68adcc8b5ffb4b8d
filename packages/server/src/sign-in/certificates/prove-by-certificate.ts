/*
 * The way of the ladder by which a device is known that could not be proven live: the browser has shown a certificate
 * to the proxy in front of the service, and osquery says on which device that certificate is. Owns the steps and the
 * evidence. What does not match leaves the other ways open.
 */
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { conflict } from '../../platform/app-error.ts'
import type { AskDevices } from '../../posture/device-questions/ask-devices.ts'
import type { CertificateHeader } from '../../schema/tables/sign-in-tables.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { deviceProven } from '../attempts/know-device.ts'
import { lockAttempt, moveAttempt } from '../attempts/move-attempt.ts'
import { bindBrowserKey, judgeKeyByProof } from '../browser-keys/bind-browser-key.ts'
import { findKeyOfAttempt } from '../browser-keys/browser-key-store.ts'
import type { KeySignature } from '../browser-keys/key-statement.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import { listCandidates } from '../proof/candidate-read.ts'
import type { ProofDecision } from '../proof/prove-device.ts'
import type { ClientCertificate, NoCertificate } from './client-certificate-input.ts'
import { findCertificateDevice, type CertificateMiss } from './find-certificate-device.ts'

export interface CertificateContext extends Pick<Foundation, 'db' | 'runChange' | 'clock'> {
  readonly ask: AskDevices
  readonly baseUrl: string
}

/** What the browser shows. */
export interface CertificateProof {
  /** Its certificate, by the header that the policy names. */
  readonly read: (header: CertificateHeader) => ClientCertificate | NoCertificate
  /** Of a browser that holds no key, and runs scripts. */
  readonly newKey: KeySignature | undefined
}

/** Each try asks up to 40 devices. */
const TRIES_MAX = 5
const TRIES = 'certificate_tries'
/** The member of what the ladder remembers that says why a certificate was not taken. */
const PROBLEM = 'certificate'

/**
 * Looks for the device of a certificate, and moves the attempt on where there is exactly one. The key of the browser is
 * judged by it and bound as by a live proof.
 *
 * @throws AppError `not_found`; `conflict` for an attempt at another step, a policy without this way, too many tries
 */
export async function proveByCertificate(
  context: CertificateContext,
  attemptId: string,
  { read, newKey }: CertificateProof,
  origin: ChangeOrigin,
): Promise<ProofDecision> {
  const { db, runChange, ask, clock, baseUrl } = context
  const begun = await runChange(origin, async (change) => begin(change, attemptId))
  const certificate = read(begun.header)
  if (typeof certificate === 'string') {
    const attempt = await runChange(origin, async (change) => leave(change, attemptId, certificate))
    return { attempt, boundKeyId: undefined }
  }
  const { personId, ipAddress } = begun.attempt
  const keyDeviceId = (await findKeyOfAttempt(db, attemptId))?.deviceId ?? null
  const candidates = await listCandidates(db, {
    personId: personId ?? '0',
    ipAddress,
    deviceId: keyDeviceId,
    at: clock.now(),
  })
  const ids = candidates.map(({ id }) => id)
  const found = await findCertificateDevice(ids, certificate.sha1, ask)
  return runChange(origin, async (change) => {
    if ('reason' in found) {
      const attempt = await leave(change, attemptId, found.reason, certificate)
      return { attempt, boundKeyId: undefined }
    }
    const { deviceId, latencyMs } = found
    await lockAttempt(change, attemptId, ['fallback'])
    const attempt = await deviceProven(change, attemptId, {
      deviceId,
      assurance: 'hardware',
      evidence: { ...toEvidence(certificate), device_id: deviceId, latency_ms: latencyMs },
    })
    await judgeKeyByProof(change, attempt, deviceId)
    const boundKeyId = newKey && (await bindBrowserKey(change, attempt, newKey, baseUrl))
    return { attempt, boundKeyId }
  })
}

/** Counts the try before any device is asked. */
async function begin(change: Change, attemptId: string) {
  const attempt = await lockAttempt(change, attemptId, ['fallback'])
  const { fallbacks, certificateHeader: header } = await getSignInPolicy(change.tx)
  if (!fallbacks.includes('certificate') || header === null) {
    throw conflict('The policy does not have this way.')
  }
  const tries = Number(attempt.fallbackState[TRIES] ?? 0)
  if (tries >= TRIES_MAX) throw conflict('A certificate was tried too often. Take another way.')
  const state = { ...attempt.fallbackState, [TRIES]: tries + 1 }
  const description = 'The person shows the certificate of the device.'
  await moveAttempt(
    change,
    attempt,
    { fallbackState: JSON.stringify(state) },
    { events: [{ type: 'certificate_asked', description }] },
  )
  return { attempt, header }
}

async function leave(
  change: Change,
  attemptId: string,
  reason: CertificateMiss | NoCertificate,
  certificate?: ClientCertificate,
): Promise<Attempt> {
  const attempt = await lockAttempt(change, attemptId, ['fallback'])
  const evidence = certificate === undefined ? {} : toEvidence(certificate)
  const told = { ...attempt.evidence, ...evidence, certificate_problem: reason }
  const of = certificate === undefined ? '' : ` (${certificate.subject})`
  return moveAttempt(
    change,
    attempt,
    {
      fallbackState: JSON.stringify({ ...attempt.fallbackState, [PROBLEM]: reason }),
      evidence: JSON.stringify(told),
    },
    {
      events: [
        {
          type: 'certificate_failure',
          description: `No device was recognised by a certificate${of}: ${reason}.`,
        },
      ],
    },
  )
}

function toEvidence({ sha256, subject, notAfter }: ClientCertificate) {
  const not_after = notAfter.toISOString()
  return { certificate: { sha256, subject, not_after } }
}
