/*
 * The units of work that are measured with several processes, each sent so often that every process does as many as one
 * alone would: a device stays with one process, as behind a balancer that goes by the node key.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import { notifyDestinations } from '../src/signals/dispatch/delivery-store.ts'
import { READ_PATH } from './bench-agents.ts'
import { PER_PAGE, toListPath } from './list-client.ts'
import type { LoadRequest } from './load-program.ts'
import { insertQueuedEvents } from './outbox-store.ts'
import type { Installation, ProcessGroup } from './process-group.ts'
import { sendLoad, type LoadGenerator } from './request-cost.ts'
import { countUndelivered } from './signal-latency-store.ts'

/** What the units are sent with. */
export interface UnitBench extends Installation {
  readonly group: ProcessGroup
  /** As many as the largest group has processes of a role. */
  readonly generators: readonly LoadGenerator[]
  readonly devices: readonly FlippingDevice[]
  readonly destinationId: DestinationId
  readonly key: string
}

/** A device with a check that fails every other time. */
export interface FlippingDevice {
  readonly id: string
  readonly nodeKey: string
  readonly queryId: string
  isFailing: boolean
}

export interface Unit {
  readonly what: string
  /** How many a process does while it is measured. */
  readonly perProcess: number
  /** Makes ready what is not measured. */
  readonly prepare?: (bench: UnitBench, count: number) => Promise<void>
  /** Has them done, `count` in all. */
  readonly send: (bench: UnitBench, count: number) => Promise<void>
}

const WRITE_PATH = '/osquery/distributed/write'
/** Of each load generator to its process. */
export const CONNECTIONS = 8
const POLL_MS = 50

export const IDLE_CHECK_IN: Unit = {
  what: 'an idle check-in',
  perProcess: 20_000,
  send: (bench, count) =>
    sendRequests(bench, 'agents', count, (at) => ({
      path: READ_PATH,
      body: JSON.stringify({ node_key: deviceOf(bench, at).nodeKey }),
    })),
}

export const UNITS: readonly Unit[] = [
  { what: 'a change of status, to its recorded delivery', perProcess: 300, send: sendChanges },
  IDLE_CHECK_IN,
  {
    what: 'a GET of one device',
    perProcess: 1_500,
    send: (bench, count) =>
      sendRequests(bench, 'api', count, (at) => ({
        path: `/devices/${deviceOf(bench, at).id}`,
        authorization: `Bearer ${bench.key}`,
      })),
  },
  {
    what: `a GET of ${PER_PAGE} devices`,
    perProcess: 500,
    send: (bench, count) =>
      sendRequests(bench, 'api', count, () => ({
        path: toListPath('/devices'),
        authorization: `Bearer ${bench.key}`,
      })),
  },
  {
    what: 'a signed delivery',
    perProcess: 2_000,
    prepare: ({ services, destinationId }, count) =>
      insertQueuedEvents(services.db, [destinationId], count),
    send: async (bench) => {
      await notifyDestinations(bench.services.db, [bench.destinationId])
      await drain(bench)
    },
  },
]

/** Resolves when every event is recorded as delivered. */
export async function drain({ run, services }: Installation): Promise<void> {
  while ((await countUndelivered(services.db)) > 0) {
    await sleep(POLL_MS, undefined, { signal: run.signal })
  }
}

/** The n-th device of the process at this place. */
function deviceOf({ devices }: UnitBench, at: number): FlippingDevice {
  const device = devices[at % devices.length]
  if (device === undefined) throw new Error('there are no devices')
  return device
}

/** `toRequest` is asked for places of which each process gets every so-manieth. */
async function sendRequests(
  { run, group, generators }: UnitBench,
  role: 'agents' | 'api',
  count: number,
  toRequest: (at: number) => LoadRequest,
): Promise<void> {
  const ports = group.ports[role]
  await Promise.all(
    ports.map(async (port, process) => {
      const generator = generators[process]
      if (generator === undefined) throw new Error('there are fewer generators than processes')
      const requests = Array.from({ length: count / ports.length }, (_, turn) =>
        toRequest(turn * ports.length + process),
      )
      await sendLoad(run, generator, {
        port,
        requests,
        connections: CONNECTIONS,
        measureMs: 'once',
      })
    }),
  )
}

async function sendChanges(bench: UnitBench, count: number): Promise<void> {
  const { run, group } = bench
  const ports = group.ports.agents
  await Promise.all(
    ports.map(async (port, process) => {
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
      let turn = 0
      const sendInTurn = async () => {
        for (; turn < count / ports.length;) {
          run.signal.throwIfAborted()
          const device = deviceOf(bench, turn * ports.length + process)
          turn += 1
          await flip(pool, device)
        }
      }
      try {
        await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn))
      } finally {
        await pool.close()
      }
    }),
  )
  await drain(bench)
}

async function flip(pool: Pool, device: FlippingDevice): Promise<void> {
  device.isFailing = !device.isFailing
  const { nodeKey, queryId } = device
  const status = device.isFailing ? 'FAIL' : 'PASS'
  const { statusCode, body } = await pool.request({
    path: WRITE_PATH,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      node_key: nodeKey,
      queries: { [queryId]: [{ KOLIDE_CHECK_STATUS: status }] },
      statuses: { [queryId]: 0 },
    }),
  })
  await body.dump()
  if (statusCode !== 200) throw new Error(`an answer of a device was refused: ${statusCode}`)
}
