/*
 * Asks the devices that may be the one whether they hold a certificate, through osquery's `certificates` table. Exactly
 * one must: a certificate that several devices hold tells none of them apart. Owns no decision about the sign-in.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../platform/clock.ts'
import type { AskDevices } from '../../posture/device-questions/ask-devices.ts'

/** Which device holds a certificate, or why none is known to. */
export type CertificateSearch =
  | { readonly deviceId: string; readonly latencyMs: number | null }
  | { readonly reason: CertificateMiss }

export type CertificateMiss = 'no_match' | 'several' | 'unreachable'

const SHA1 = /^[0-9a-f]{40}$/
/** Held devices answer within a second; one that begins a new check-in within five. */
const ASK_TIMEOUT_MS = 12 * SECOND_MS
/** What the others then have to say that they hold it as well. */
const OTHERS_MS = 2 * SECOND_MS

/** Asks each device once. */
export async function findCertificateDevice(
  deviceIds: readonly string[],
  sha1: string,
  ask: AskDevices,
): Promise<CertificateSearch> {
  if (!SHA1.test(sha1)) throw new RangeError('no SHA-1')
  const over = new AbortController()
  const holders: { readonly deviceId: string; readonly latencyMs: number | null }[] = []
  let answers = 0
  const sql = `select sha1 from certificates where lower(sha1) = '${sha1}'`
  const askOne = async (deviceId: string): Promise<void> => {
    const question = { deviceId, sql, purpose: 'certificate' } as const
    const options = { timeoutMs: ASK_TIMEOUT_MS, signal: over.signal }
    const [answer] = await ask([question], options)
    if (answer?.status !== 'answered') return
    answers += 1
    if (!answer.rows.some((row) => row['sha1']?.toLowerCase() === sha1)) return
    holders.push({ deviceId, latencyMs: answer.latencyMs })
    if (holders.length > 1) over.abort()
    else endSoon(over)
  }
  await Promise.all(deviceIds.map(askOne))
  over.abort()
  const [holder, ...others] = holders
  if (others.length > 0) return { reason: 'several' }
  return holder ?? { reason: answers === 0 ? 'unreachable' : 'no_match' }
}

function endSoon(over: AbortController): void {
  const wait = sleep(OTHERS_MS, undefined, { signal: over.signal, ref: false })
  void wait.then(() => over.abort()).catch(() => undefined)
}
