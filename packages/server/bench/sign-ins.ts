/*
 * Signing in while a fleet is held: what a sign-in costs in CPU time, from the request of the application to its ID
 * token, and how long a person waits who says that an issue is fixed, on a page that has been open for seconds. Devices
 * pause between two requests as osqueryd does, for as long as their last configuration said: whoever clicks in such a
 * pause waits for its end.
 */
import { sql } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { findFreePortRange } from '../src/platform/net/find-free-port.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import {
  createApplicationBody,
  toApplicationValues,
} from '../src/sign-in/applications/application-input.ts'
import { createApplication } from '../src/sign-in/applications/change-application.ts'
import { enrollAgents, type AgentFleet } from './bench-agents.ts'
import { findParentPid, readTreesCpuMs } from './process-cpu.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { SignInClient, type BenchApplication } from './sign-in-client.ts'
import { startDevices, type WorkingDevices } from './sign-in-devices.ts'
import { measureRechecks, type Owner } from './sign-in-rechecks.ts'
import { pauseOtherChecks, registerToOwners, type OwnedDevice } from './sign-in-fleet-store.ts'
import { makeCheckBlock } from './signal-latency-store.ts'
import { percentile } from './statistics.ts'

const DEVICES_COUNT = 1_000
const BLOCKED_SHARE = 0.2
/** osquery's `distributed_interval`, as the service sets it. */
const PAUSE_MS = 5_000
const HOLD_SECONDS = 10
const BROWSERS = 3
const WARM_UP_MS = 5_000
const PROBE_PORTS = 64
const HELD_SHARE = 0.5
const CPU_MS_TARGET = 200
const REDIRECT_URI = 'http://127.0.0.1:1/callback'

export const signIns: Scenario = {
  title: `Sign-ins and rechecks with ${DEVICES_COUNT} held devices`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const { service, secret, checkId, application } = await startService(run)
  const count = Math.max(50, Math.round(DEVICES_COUNT * run.scale))
  run.progress(`enrolling ${count} devices`)
  const fleet = await enrollAgents(run, service, { secret, count })
  const blockedCount = Math.round(count * BLOCKED_SHARE)
  await failCheck(fleet, checkId, blockedCount)
  const owned = await registerToOwners(service.services.db)
  run.progress(`holding ${count} devices`)
  const working = startDevices(service, fleet.agents, PAUSE_MS)
  run.cleanup.add(async () => working.stop())
  const owners = await toOwners(fleet, owned, working)
  const blocked = owners.slice(0, blockedCount)
  for (const { device } of blocked) device.isFailing = true
  // Of the others the issue is younger than their configuration.
  for (const index of blocked.keys()) if (index % 2 === 0) await working.learn(index)
  await settle(run, working)
  const rechecks = await measureRechecks(run, service, application, blocked)
  await sleep(PAUSE_MS)
  const costs = await measureSignIns(run, service, application, owners.slice(blockedCount))
  working.assertGood()
  return [...rechecks, ...costs]
}

async function startService(run: BenchRun) {
  const { first, last } = await findFreePortRange('127.0.0.1', PROBE_PORTS)
  let [secret, checkId] = ['', '']
  let application: BenchApplication & { readonly id: string } = {
    ...{ id: '', clientId: '', redirectUri: REDIRECT_URI },
  }
  const service = await startServiceUnderTest(run, {
    environment: {
      HELIOGRAPH_PROBE_PORTS: `${first}-${last}`,
      HELIOGRAPH_CHECK_IN_HOLD_SECONDS: String(HOLD_SECONDS),
      HELIOGRAPH_CHECK_INTERVAL_SECONDS: '604800',
    },
    prepare: async (services) => {
      checkId = await makeCheckBlock(services.db, 'linux')
      await pauseOtherChecks(services.db, checkId)
      application = { ...(await addApplication(services)), redirectUri: REDIRECT_URI }
      const created = await services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        createEnrollmentSecret(change, services.sealer, {
          ...{ name: 'Bench', personId: null, expiresAt: null },
        }),
      )
      secret = created.secret
    },
  })
  return { service, secret, checkId, application }
}

async function addApplication({ runChange, sealer }: ServiceFoundation) {
  const values = createApplicationBody.parse({
    name: 'Bench',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
  })
  const { application } = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    createApplication(change, toApplicationValues(values), {
      sealer,
      findTargetProblem: () => undefined,
    }),
  )
  return { id: application.id, clientId: application.clientId }
}

async function failCheck({ agents, answer }: AgentFleet, checkId: string, count: number) {
  for (const agent of agents.slice(0, count)) {
    const queryId = agent.queryIds.find((id) => id.startsWith(`check:${checkId}:`)) ?? ''
    await answer(agent, [queryId], 'FAIL')
  }
}

/** Agents enroll side by side: which is whose is told by their serial number. */
async function toOwners(
  { agents }: AgentFleet,
  owned: ReadonlyMap<number, OwnedDevice>,
  { devices }: WorkingDevices,
): Promise<Owner[]> {
  return agents.map(({ index }, at) => {
    const [owner, device] = [owned.get(index), devices[at]]
    if (owner === undefined || device === undefined) throw new Error(`device ${index} has no owner`)
    return { ...owner, device }
  })
}

/** Waits until as many are held as always are: the others pause. */
async function settle({ signal }: BenchRun, { devices }: WorkingDevices): Promise<void> {
  const isSettled = () =>
    devices.filter(({ isHeld }) => isHeld).length > devices.length * HELD_SHARE
  await sleep(PAUSE_MS)
  while (!isSettled()) {
    signal.throwIfAborted()
    await sleep(100)
  }
}

/** Sign-ins one after another in a few browsers, each with a device that is held then. */
async function measureSignIns(
  run: BenchRun,
  service: ServiceUnderTest,
  application: BenchApplication,
  owners: readonly Owner[],
): Promise<Measurement[]> {
  const pids = [service.pid, ...(await findDatabasePids(service))]
  run.progress('counting what held devices cost')
  const idle = await readCost(pids, () => sleep(run.seconds * 1000))
  const waiting = [...owners]
  run.progress('warming up')
  await signInFor(WARM_UP_MS, run, service, { application, waiting })
  run.progress(`signing in for ${run.seconds} s`)
  let latenciesMs: number[] = []
  const busy = await readCost(pids, async () => {
    latenciesMs = await signInFor(run.seconds * 1000, run, service, { application, waiting })
  })
  const count = latenciesMs.length
  const cpuMs = (busy.cpuMs - idle.cpuMs * (busy.elapsedMs / idle.elapsedMs)) / count
  return [
    {
      what: 'CPU time of a sign-in, service and database',
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cpuMs, unit: 'ms' },
      ...{ limit: undefined, ratio: undefined, isReached: cpuMs <= CPU_MS_TARGET },
      details: {
        sign_ins: count,
        browsers: BROWSERS,
        sign_ins_per_second_of_a_core: 1000 / cpuMs,
        sign_ins_per_second: (count / busy.elapsedMs) * 1000,
        p50_ms: percentile(latenciesMs, 0.5),
        p95_ms: percentile(latenciesMs, 0.95),
        idle_cpu_percent_of_a_core: (idle.cpuMs / idle.elapsedMs) * 100,
      },
    },
  ]
}

/** Signs people in for a while, each in a browser of their own; answers how long each took. */
async function signInFor(
  ms: number,
  { signal }: BenchRun,
  { url }: ServiceUnderTest,
  { application, waiting }: { readonly application: BenchApplication; readonly waiting: Owner[] },
): Promise<number[]> {
  const latenciesMs: number[] = []
  const endMs = performance.now() + ms
  async function signInAgain(): Promise<void> {
    while (performance.now() < endMs) {
      signal.throwIfAborted()
      const owner = takeHeld(waiting)
      if (owner === undefined) return
      const startMs = performance.now()
      await new SignInClient(url).signIn(application, owner.email, (sockets) => {
        owner.device.sockets = sockets
      })
      latenciesMs.push(performance.now() - startMs)
    }
  }
  await Promise.all(Array.from({ length: BROWSERS }, signInAgain))
  return latenciesMs
}

function takeHeld(owners: Owner[]): Owner | undefined {
  const at = owners.findIndex(({ device }) => device.isHeld)
  return at === -1 ? undefined : owners.splice(at, 1)[0]
}

async function readCost(pids: readonly number[], work: () => Promise<unknown>) {
  const [cpuMs, startMs] = [await readTreesCpuMs(pids), performance.now()]
  await work()
  return { elapsedMs: performance.now() - startMs, cpuMs: (await readTreesCpuMs(pids)) - cpuMs }
}

/** Where the database is on this machine. */
async function findDatabasePids({ services }: ServiceUnderTest): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(services.db)
  const parent = await findParentPid(rows[0]?.pid ?? 0)
  return parent === undefined ? [] : [parent]
}
