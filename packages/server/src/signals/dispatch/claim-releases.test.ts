import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAnsweredDatabase } from '../../../test/support/answered-database.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { ClaimReleases } from './claim-releases.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'

const DESTINATIONS = ['1', '2', '3'] as const
const HELD_UP = '2'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => void vi.useRealTimers())

/** What each statement gives back, where those about some deliveries fail by a code. */
function begin(codeOf: (ids: readonly string[]) => string | undefined) {
  const statements: (readonly string[])[] = []
  const db = createAnsweredDatabase(({ parameters }) => {
    const ids = parameters.find(Array.isArray) as readonly string[]
    statements.push(ids)
    const code = codeOf(ids)
    if (code !== undefined) throw Object.assign(new Error(code), { code })
  })
  const releases = new ClaimReleases({ db, log: SILENT_LOGGER })
  const released: string[] = []
  for (const id of DESTINATIONS) {
    const delivery = { id, claimId: 'claim', leaseEndsMs: 60_000 } as ClaimedDelivery
    void releases.release(id as DestinationId, [delivery], 0).then(() => released.push(id))
  }
  const pass = async (ms: number) => {
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(ms)
  }
  return { releases, statements, released, pass }
}

test('what all destinations give back in one turn goes by one statement', async () => {
  const { statements, released, pass } = begin(() => undefined)
  await pass(0)
  expect(statements).toEqual([DESTINATIONS])
  expect(released).toEqual(DESTINATIONS)
})

test.each([
  { whose: 'somebody has locked', code: '55P03' },
  { whose: 'the database refuses', code: '23514' },
])('a destination whose deliveries $whose holds up no other', async ({ code }) => {
  let isHeldUp = true
  const { released, pass } = begin((ids) => (isHeldUp && ids.includes(HELD_UP) ? code : undefined))
  await pass(0)
  expect(released.toSorted()).toEqual(['1', '3'])
  isHeldUp = false
  await pass(1_000)
  expect(released.toSorted()).toEqual(DESTINATIONS)
})

test('nor at an end, which tries once what each gives back', async () => {
  const { releases, released, statements, pass } = begin((ids) =>
    ids.includes(HELD_UP) ? '55P03' : undefined,
  )
  releases.stop()
  await pass(0)
  expect(statements).toContainEqual(['1'])
  expect(statements).toContainEqual(['3'])
  expect(released.toSorted()).toEqual(DESTINATIONS)
})

test('while the database is away all go together, and after an end nothing is tried again', async () => {
  const { releases, statements, released, pass } = begin(() => 'ECONNREFUSED')
  await pass(1_000)
  expect(statements).toEqual([DESTINATIONS, DESTINATIONS])
  releases.stop()
  await pass(1_000)
  expect(statements).toHaveLength(3)
  expect(released).toEqual(DESTINATIONS)
})

test('a destination whose deliveries are not given back is named in the log, of many the first ten', async () => {
  const warn = vi.fn()
  const db = createAnsweredDatabase(() => {
    throw new Error('not given back')
  })
  const releases = new ClaimReleases({ db, log: { warn } })
  releases.stop()
  const ids = Array.from({ length: 12 }, (_, index) => String(index))
  await Promise.all(
    ids.map((id) => releases.release(id as DestinationId, [{ id } as ClaimedDelivery], 0)),
  )
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ destination_ids: ids.slice(0, 10), delivery_count: 12 }),
    'deliveries could not be given back',
  )
})
