/* How long somebody waits who says that an issue is fixed: sign-ins that a device blocks, and clicks at fixed times. */
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { writeAttemptCookie } from '../src/sign-in/attempts/attempt-cookie-input.ts'
import { beginAttempt } from '../src/sign-in/attempts/begin-attempt.ts'
import { postureKnown } from '../src/sign-in/attempts/decide-posture.ts'
import { identifyPerson } from '../src/sign-in/attempts/identify-person.ts'
import { deviceProven } from '../src/sign-in/attempts/know-device.ts'
import { runOpenLoop } from './open-loop.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import type { ServiceUnderTest } from './service-under-test.ts'
import { SignInClient } from './sign-in-client.ts'
import type { WorkingDevice } from './sign-in-devices.ts'
import type { OwnedDevice } from './sign-in-fleet-store.ts'
import { percentile } from './statistics.ts'

const CLICKS_PER_SECOND = 5
const P50_TARGET_MS = 1_000
const P95_TARGET_MS = 2_000

/** Somebody with a device that works. */
export interface Owner extends OwnedDevice {
  readonly device: WorkingDevice
}

/** From the click to the answer of the service, which comes with the result. */
export async function measureRechecks(
  run: BenchRun,
  service: ServiceUnderTest,
  { id: applicationId }: { readonly id: string },
  owners: readonly Owner[],
): Promise<Measurement[]> {
  run.progress('blocking sign-ins')
  const clicks = Math.min(owners.length, run.seconds * CLICKS_PER_SECOND)
  const pages: BlockedPage[] = []
  for (const owner of owners.slice(0, clicks)) {
    pages.push(await beginBlocked(service, applicationId, owner))
  }
  run.progress(`clicking ${clicks} times`)
  const clicked: Click[] = []
  const loop = await runOpenLoop({
    ratePerSecond: CLICKS_PER_SECOND,
    seconds: clicks / CLICKS_PER_SECOND,
    signal: run.signal,
    send: async (index) => {
      const page = pages[index]
      if (page === undefined) throw new Error('there are too few sign-ins')
      const { isHeld, pauseMs } = page.owner.device
      const startMs = performance.now()
      await page.client.post(`${page.path}/recheck`)
      clicked.push({ elapsedMs: performance.now() - startMs, isHeld, pauseMs })
    },
  })
  if (loop.failures > 0) throw new Error('a recheck failed', { cause: loop.firstFailure })
  const pauses = [...new Set(clicked.map(({ pauseMs }) => pauseMs))].toSorted((a, b) => a - b)
  return [
    ...toRechecks(
      'recheck, device held at the click',
      clicked.filter(({ isHeld }) => isHeld),
    ),
    ...pauses.flatMap((pauseMs) =>
      toRechecks(
        `recheck, any device that pauses ${pauseMs / 1000} s`,
        clicked.filter((click) => click.pauseMs === pauseMs),
      ),
    ),
  ]
}

/** Somebody who clicked, and what the device did then. */
interface Click {
  readonly elapsedMs: number
  readonly isHeld: boolean
  readonly pauseMs: number
}

function toRechecks(what: string, clicks: readonly Click[]): Measurement[] {
  const latenciesMs = clicks.map(({ elapsedMs }) => elapsedMs)
  const details = { clicks: clicks.length, max_ms: Math.max(...latenciesMs) }
  return [
    toRecheck(`${what}, p50`, percentile(latenciesMs, 0.5), P50_TARGET_MS, details),
    toRecheck(`${what}, p95`, percentile(latenciesMs, 0.95), P95_TARGET_MS),
  ]
}

function toRecheck(
  what: string,
  ms: number,
  targetMs: number,
  details: Measurement['details'] = {},
): Measurement {
  return {
    ...{ what, target: `< ${targetMs} ms`, measured: { value: ms, unit: 'ms' } },
    ...{ limit: undefined, ratio: undefined, isReached: ms < targetMs, details },
  }
}

/** The page of a sign-in that an issue of the device blocks. */
interface BlockedPage {
  readonly owner: Owner
  readonly client: SignInClient
  readonly path: string
}

async function beginBlocked(
  { services, url }: ServiceUnderTest,
  applicationId: string,
  owner: Owner,
): Promise<BlockedPage> {
  const { attempt, secret, stage } = await services.runChange(
    { actor: SYSTEM_ACTOR },
    async (change) => {
      const begun = await beginAttempt(change, {
        applicationId,
        interaction: { kind: 'oidc', uid: owner.deviceId },
        ...{ loginHint: null, language: 'en', ipAddress: '127.0.0.1', userAgent: null },
      })
      const { id } = begun.attempt
      await identifyPerson(change, id, { email: owner.email, amr: [], isProven: true })
      const { deviceId } = owner
      await deviceProven(change, id, { deviceId, assurance: 'live', evidence: {} })
      const decided = await postureKnown(change, id, { isFresh: true })
      return { ...begun, stage: decided.stage }
    },
  )
  if (stage !== 'blocked') throw new Error(`a sign-in that should be blocked is ${stage}`)
  const client = new SignInClient(url)
  client.adopt(writeAttemptCookie(attempt.id, secret, url))
  return { owner, client, path: `/sign-in/attempts/${attempt.id}` }
}
