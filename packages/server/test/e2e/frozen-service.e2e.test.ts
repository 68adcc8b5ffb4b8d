/*
 * A process that is frozen takes requests up when it goes on, whose agents have left long since: what it would have
 * answered them is given to the next request.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE_MS, SECOND_MS } from '../../src/platform/clock.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

interface Answer {
  readonly node_key?: string
  readonly queries?: Readonly<Record<string, string>>
}

/** So often a frozen process is asked for work. */
const FREEZES = 3
/** After which an agent of this test gives up. */
const PATIENCE_MS = SECOND_MS

let folder: string
let service: ServiceProcess
let nodeKey: string | undefined

beforeAll(async () => {
  folder = await createPreparedFolder('heliograph-frozen-')
  service = new ServiceProcess({
    dataDir: join(folder, 'data'),
    port: await reservePort(),
    environment: {
      HELIOGRAPH_CHECK_INTERVAL_SECONDS: '1',
      HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0',
      HELIOGRAPH_LOG_LEVEL: 'warn',
    },
  })
  await service.start()
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

async function post(path: string, body: object, patienceMs = MINUTE_MS): Promise<Answer> {
  const response = await fetch(`${service.baseUrl}/osquery/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(patienceMs),
  })
  return (await response.json()) as Answer
}

const askForWork = async (patienceMs?: number) => {
  const { queries } = await post('distributed/read', { node_key: nodeKey }, patienceMs)
  return Object.keys(queries ?? {})
}

/** Waits for a round and answers it, long before what was handed out counts as lost. */
async function answerRound(): Promise<void> {
  let ids: string[] = []
  await expect
    .poll(async () => (ids = await askForWork()).length, { timeout: MINUTE_MS })
    .toBeGreaterThan(0)
  await post('distributed/write', {
    node_key: nodeKey,
    queries: Object.fromEntries(ids.map((id) => [id, [{ KOLIDE_CHECK_STATUS: 'PASS' }]])),
    statuses: Object.fromEntries(ids.map((id) => [id, 0])),
  })
}

test('a device that gave up on a frozen process gets its work when it goes on', async () => {
  const { secret } = (await service.command(
    'enrollment-secrets',
    'create',
    '--name',
    'frozen',
  )) as {
    secret: string
  }
  const enrolled = await post('enroll', {
    enroll_secret: secret,
    host_identifier: 'host',
    platform_type: '9',
    host_details: { system_info: { uuid: '00000000-0000-4000-8000-000000000001' } },
  })
  nodeKey = enrolled.node_key
  await answerRound()
  for (let freeze = 0; freeze < FREEZES; freeze += 1) {
    service.signal('SIGSTOP')
    // Longer than the interval: a round is due when the process goes on.
    for (let time = 0; time < 2; time += 1) await expect(askForWork(PATIENCE_MS)).rejects.toThrow()
    service.signal('SIGCONT')
    await answerRound()
  }
})
