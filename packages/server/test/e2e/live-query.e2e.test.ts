import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFleet, type Fleet } from '@heliograph/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitUntilNoneLeft } from '../support/wait-until-none-left.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

/** Raise it for a long run: `HELIOGRAPH_TEST_DEVICES=2000 npm test -- --project e2e live-query`. */
const DEVICES = Number(process.env['HELIOGRAPH_TEST_DEVICES'] ?? 500)
const SILENT_DEVICES = 20

interface Campaign {
  readonly id: string
  readonly revision: number
  readonly waiting_devices_count: number
  readonly successful_devices_count: number
  readonly errored_devices_count: number
}

interface Result {
  readonly id: string
  readonly result_count: string
  readonly error_message: string | null
  readonly revision: number
  readonly device_information: { readonly identifier: string }
  readonly results: readonly Readonly<Record<string, string>>[]
}

interface Page<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly next: string }
}

describe(`a live query to ${DEVICES} devices`, () => {
  let folder: string
  let service: ServiceProcess
  let fleet: Fleet
  let key: string

  beforeAll(async () => {
    folder = await createPreparedFolder('heliograph-live-')
    service = new ServiceProcess({
      dataDir: join(folder, 'data'),
      port: await reservePort(),
      environment: {
        HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
        HELIOGRAPH_CHECK_IN_INTERVAL_SECONDS: '5',
        HELIOGRAPH_LOG_LEVEL: 'warn',
      },
    })
    await service.start()
    key = await createKey(service)
    await pauseChecks()
    fleet = await enrollFleet(service)
  })

  afterAll(async () => {
    await fleet.stop()
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const call = async <Body>(path: string, method = 'GET', payload?: object): Promise<Body> => {
    const response = await fetch(new URL(path, service.baseUrl), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
    })
    const body = (await response.json()) as Body
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`)
    return body
  }
  /** So that the work of the service is that of live queries. */
  const pauseChecks = async () => {
    let next = '/checks?per_page=100'
    while (next !== '') {
      const { data, pagination } = await call<Page<{ readonly id: string }>>(next)
      for (const { id } of data)
        await call(`/checks/${id}/configurations`, 'PATCH', { paused: true })
      next = pagination.next
    }
  }
  const ask = (name: string, sql: string) =>
    call<Campaign>('/live_query_campaigns', 'POST', { name, sql, target_all_devices: true })
  const show = (id: string) => call<Campaign>(`/live_query_campaigns/${id}`)
  const listResults = async (id: string): Promise<Result[]> => {
    const results: Result[] = []
    let next = `/live_query_campaigns/${id}/query_results?per_page=100`
    while (next !== '') {
      const page = await call<Page<Result>>(next)
      results.push(...page.data)
      next = page.pagination.next
    }
    return results
  }
  /** Waits until nobody, or no more than `left`, owes an answer; calls `whileWaiting` in between. */
  const drain = async (
    id: string,
    whileWaiting: (campaign: Campaign) => Promise<void> = async () => undefined,
    left = 0,
  ): Promise<Campaign> => {
    let campaign = await show(id)
    await waitUntilNoneLeft(async () => {
      campaign = await show(id)
      const leftCount = campaign.waiting_devices_count - left
      if (leftCount > 0) await whileWaiting(campaign)
      return leftCount
    })
    if (campaign.waiting_devices_count <= left) return campaign
    throw new Error(`unanswered: ${JSON.stringify(campaign)}`)
  }

  /** Stops some devices, so that no query is through before they are started by what this answers. */
  const holdBack = (): (() => void) => {
    const silent = fleet.members.slice(0, SILENT_DEVICES)
    for (const { node } of silent) node.stop()
    return () => silent.forEach(({ node }) => node.start())
  }

  it('is answered by every device that polls, counted exactly, and readable while answers come', async () => {
    const goOn = holdBack()
    const before = fleet.statistics().counters
    const asked = await ask('versions', 'select version from osquery_info;')
    expect(asked.waiting_devices_count).toBe(DEVICES)
    let partialCount = 0
    const finished = await drain(asked.id, async (campaign) => {
      const { waiting_devices_count: waiting, successful_devices_count: answered } = campaign
      expect(waiting + answered + campaign.errored_devices_count).toBe(DEVICES)
      if (answered === 0 || partialCount > 0) return
      const path = `/live_query_campaigns/${asked.id}/query_results?per_page=100`
      const { data } = await call<Page<Result>>(path)
      partialCount = data.length
      if (partialCount > 0) goOn()
    })
    expect(partialCount).toBeGreaterThan(0)
    expect(finished).toMatchObject({ successful_devices_count: DEVICES, errored_devices_count: 0 })
    const results = await listResults(asked.id)
    const devices = results.map(({ device_information: device }) => device.identifier)
    expect(results).toHaveLength(DEVICES)
    expect(new Set(devices).size).toBe(DEVICES)
    expect(results.every(({ results: rows }) => rows[0]?.['version'] === '5.23.1')).toBe(true)
    const after = fleet.statistics().counters
    expect(after.queriesReceived - before.queriesReceived).toBeGreaterThanOrEqual(DEVICES)
    // No check-in was refused, unanswered or thrown away while all of them answered.
    const { failures, unreachable, nodeInvalid, batchesDiscarded, enrollments } = before
    expect(after).toMatchObject({
      ...{ failures, unreachable, nodeInvalid, batchesDiscarded, enrollments },
    })
  })

  it('waits for devices that do not poll, and for no others', async () => {
    const goOn = holdBack()
    const asked = await ask('silence', "select 'here' as answer")
    const partly = await drain(asked.id, undefined, SILENT_DEVICES)
    expect(partly).toMatchObject({
      waiting_devices_count: SILENT_DEVICES,
      successful_devices_count: DEVICES - SILENT_DEVICES,
    })
    expect(await listResults(asked.id)).toHaveLength(DEVICES - SILENT_DEVICES)
    goOn()
    expect(await drain(asked.id)).toMatchObject({ successful_devices_count: DEVICES })
    expect(await listResults(asked.id)).toHaveLength(DEVICES)
  })

  it('is answered by every device although the service and its database are killed meanwhile', async () => {
    const asked = await ask('registry', 'select name from registry limit 1')
    await service.kill(true)
    await service.start()
    const finished = await drain(asked.id)
    const windows = fleet.members.filter(({ node }) => node.platform === 'windows').length
    expect(finished).toMatchObject({
      successful_devices_count: windows,
      errored_devices_count: DEVICES - windows,
    })
    const results = await listResults(asked.id)
    const errors = results
      .map(({ error_message: message }) => message)
      .filter((text) => text !== null)
    expect(errors).toHaveLength(DEVICES - windows)
    expect(errors[0]).toContain('registry')
  })

  it('is asked anew when it changes, and answers to the old question do not count', async () => {
    const goOn = holdBack()
    const asked = await ask('first', 'select 1 as answer')
    const path = `/live_query_campaigns/${asked.id}`
    await drain(asked.id, async ({ successful_devices_count: answered, revision }) => {
      if (answered < DEVICES / 10 || revision > 1) return
      await call<Campaign>(path, 'PATCH', { sql: 'select 2 as answer' })
      goOn()
    })
    const results = await listResults(asked.id)
    expect(results).toHaveLength(DEVICES)
    expect(new Set(results.map(({ results: rows }) => rows[0]?.['answer']))).toEqual(new Set(['2']))
    expect(new Set(results.map(({ revision }) => revision))).toEqual(new Set([2]))
  })
})

async function createKey(service: ServiceProcess): Promise<string> {
  const admin = ['--email', 'ada@example.com', '--first-name', 'Ada', '--last-name', 'Lovelace']
  await service.command('admins', 'create', ...admin)
  const { key } = (await service.command(
    ...['keys', 'create', '--name', 'live', '--responsible', 'ada@example.com'],
    ...['--permission', 'Create Live Query=Asks devices.'],
    ...['--permission', 'Manage Checks=Pauses them.'],
  )) as { key: string }
  return key
}

async function enrollFleet(service: ServiceProcess): Promise<Fleet> {
  const { secret } = (await service.command(
    ...['enrollment-secrets', 'create', '--name', 'fleet'],
  )) as { secret: string }
  const fleet = createFleet({
    baseUrl: service.baseUrl,
    enrollSecret: secret,
    count: DEVICES,
    startSpreadMs: 1_000,
    connectionsMax: 64,
    flags: { distributedIntervalSeconds: 5, loggerPeriodSeconds: 60 },
  })
  fleet.start()
  if ((await waitUntilNoneLeft(() => DEVICES - fleet.statistics().enrolled)) > 0) {
    throw new Error(`not enrolled: ${JSON.stringify(fleet.statistics())}\n${service.output}`)
  }
  return fleet
}
