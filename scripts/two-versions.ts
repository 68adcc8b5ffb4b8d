/*
 * Runs the version before and this one on one database, under load: side by side, upgraded one after the other, and
 * back again. `node scripts/run.mjs two-versions [--from <git ref>] [--seconds <per step>]`; without `--from` the
 * version of schema/former-version.ts. Fails when a request failed, an event was lost, came out of order or with other
 * bytes, or a process logged an error.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { removeDataFolder, startEmbeddedPostgres } from '@heliograph/embedded-postgres'
import { FORMER_VERSION } from '../packages/server/src/schema/former-version.ts'
import { findFreePort } from '../packages/server/src/platform/net/find-free-port.ts'
import { toUrl } from '../packages/server/test/support/to-url.ts'
import { Balancer } from './versions/balancer.ts'
import { JudgingReceiver } from './versions/judging-receiver.ts'
import { ServiceSlot } from './versions/service-slot.ts'
import { startLoad, type VersionLoad } from './versions/version-load.ts'
import { checkOutVersion, removeVersion } from './versions/version-tree.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const HOST = '127.0.0.1'
const DRAIN_MS = 120_000
const nothing = () => undefined
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: FORMER_VERSION.ref },
    seconds: { type: 'string', default: '15' },
  },
})
const stepMs = Number(values.seconds) * 1_000
const folder = await mkdtemp(join(tmpdir(), 'heliograph-versions-'))
// As root the database runs as another user, who must be able to pass through.
await chmod(folder, 0o711)
const cleanUp: (() => unknown)[] = [() => removeDataFolder(folder, log)]
const problems = await tryVersions().catch((error: unknown) => [String(error)])
for (const undo of cleanUp.reverse()) await undo()
for (const problem of problems) say(`!! ${problem}`)
say(
  problems.length === 0
    ? 'Both versions work beside each other, forwards and back.'
    : `${problems.length} problems.`,
)
process.exitCode = problems.length === 0 ? 0 : 1

async function tryVersions(): Promise<readonly string[]> {
  const formerFolder = join(folder, 'former')
  cleanUp.push(() => removeVersion(root, formerFolder))
  const former = await checkOutVersion(root, values.from, formerFolder)
  const present = { name: 'this version', folder: root }
  const dataDir = join(folder, 'database')
  await mkdir(dataDir, { mode: 0o711 })
  const database = await startEmbeddedPostgres({ dataDir, log })
  cleanUp.push(() => database.stop())
  const [port, firstPort, secondPort, receiverPort] = await Promise.all(
    Array.from({ length: 4 }, () => findFreePort(HOST)),
  )
  const baseUrl = `http://${HOST}:${port}`
  const environment = {
    DATABASE_URL: toUrl(database.owner),
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_DATA_DIR: join(folder, 'data'),
    HELIOGRAPH_BASE_URL: baseUrl,
    HELIOGRAPH_ALLOWED_TARGETS: HOST,
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: '2',
    HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
    HELIOGRAPH_DATABASE_POOL_MAX: '8',
  }
  const first = new ServiceSlot(firstPort ?? 0, environment)
  const second = new ServiceSlot(secondPort ?? 0, environment)
  const slots = [first, second]
  cleanUp.push(() => Promise.all(slots.map((slot) => slot.stop())))
  const balancer = new Balancer(slots)
  await balancer.listen(port ?? 0)
  cleanUp.push(() => balancer.close())
  const receiver = new JudgingReceiver()
  cleanUp.push(() => receiver.close())
  const receiverUrl = await receiver.listen(receiverPort ?? 0)

  say(`${former.name} on an empty database`)
  await first.start(former)
  const load = await startLoad({
    baseUrl,
    environment,
    slots,
    version: former,
    receiver,
    receiverUrl,
  })
  cleanUp.push(() => load.stop())
  await step(load, `${former.name} alone`)
  await second.start(present)
  await step(load, `${former.name} and this version`)
  await first.stop()
  await first.start(present)
  await step(load, 'this version alone')
  await second.stop()
  await second.start(former)
  await step(load, `this version, and back to ${former.name}`)
  await first.stop()
  await first.start(former)
  await step(load, `${former.name} alone, on the newer schema`)
  await load.stop()
  const undelivered = await drain(load)
  await Promise.all(slots.map((slot) => slot.stop()))

  return judge({ slots, balancer, load, receiver, undelivered })
}

interface Trial {
  readonly slots: readonly ServiceSlot[]
  readonly balancer: Balancer
  readonly load: VersionLoad
  readonly receiver: JudgingReceiver
  readonly undelivered: number
}

/** Tells what went on, and answers what must not have been. */
function judge({ slots, balancer, load, receiver, undelivered }: Trial): readonly string[] {
  const logged = slots.flatMap((slot) => slot.problems)
  const warnings = new Set(logged.filter(({ isError }) => !isError).map(({ text }) => text))
  for (const text of warnings) say(`warned: ${text}`)
  say(
    `${balancer.requestCount} requests of devices and receivers, ${load.callCount} calls of REST, ${receiver.count} events`,
  )
  return [
    ...balancer.failures,
    ...load.problems,
    ...receiver.problems,
    ...receiver.gaps().map((gap) => `the event with the number ${gap} never came`),
    ...(undelivered === 0 ? [] : [`${undelivered} events are still queued`]),
    ...(receiver.count === 0 ? ['no event came'] : []),
    ...logged.filter(({ isError }) => isError).map(({ text }) => text.slice(0, 2_000)),
  ]
}

/** Lets a step last, and sees that events come in it. */
async function step(load: { readonly eventCount: () => number }, what: string): Promise<void> {
  const before = load.eventCount()
  await sleep(stepMs)
  say(`${what}: ${load.eventCount() - before} events`)
}

/** Waits until nothing is queued; answers what is. */
async function drain(load: { readonly countQueued: () => Promise<number> }): Promise<number> {
  const endMs = performance.now() + DRAIN_MS
  for (;;) {
    const queued = await load.countQueued()
    if (queued === 0 || performance.now() > endMs) return queued
    await sleep(500)
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
