import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ManualClock } from '../../../../test/support/manual-clock.ts'
import { operation, type OperationRequest } from '../../../platform/http/operation.ts'
import { createExportFile, type ExportFileLimits } from './export-file.ts'
import { readExportPage } from './exported-list.ts'

const PAGES = 5
const PER_PAGE = 2

interface Settings {
  readonly limits?: Partial<ExportFileLimits>
  readonly onPage?: () => void
  readonly isStillAllowed?: () => boolean
}

const clock = new ManualClock()

/** A list of five pages of two records, and the file of it. */
async function open({ limits = {}, onPage, isStillAllowed = () => true }: Settings = {}) {
  const asked: string[] = []
  const item = z.object({ id: z.string() })
  const pagination = z.object({ next_cursor: z.string() })
  const list = operation({
    method: 'GET',
    path: '/things',
    access: { permission: null },
    summary: 'List things',
    responses: { 200: z.object({ data: z.array(item), pagination }) },
    handler: async ({ query }) => {
      const page = Number(query['cursor'] ?? 0)
      asked.push(String(page))
      onPage?.()
      const data = Array.from({ length: PER_PAGE }, (_, at) => ({ id: `${page}.${at}` }))
      const next = page + 1 < PAGES ? String(page + 1) : ''
      return Promise.resolve({ status: 200, body: { data, pagination: { next_cursor: next } } })
    },
  })
  const request = {
    query: {},
    isStillAllowed: async () => Promise.resolve(isStillAllowed()),
  } as unknown as OperationRequest
  const file = createExportFile(list, request, await readExportPage(list, request), {
    clock,
    limits: { rowsMax: 1_000, durationMaxMs: 60_000, ...limits },
  })
  return { file, asked }
}

async function read(file: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const part of file) text += String(part)
  return text
}

describe('the file of a list', () => {
  it('has every record of every page', async () => {
    const { file } = await open()
    const lines = (await read(file)).split('\r\n')
    expect(lines).toHaveLength(PAGES * PER_PAGE + 2)
    expect(lines.slice(0, 2)).toEqual(['\uFEFF"id"', '"0.0"'])
    expect(lines.at(-2)).toBe('"4.1"')
  })

  it('reads no page ahead of who takes it', async () => {
    const { file, asked } = await open()
    const parts = file[Symbol.asyncIterator]()
    await parts.next()
    await parts.next()
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    expect(asked.length).toBeLessThanOrEqual(3)
    file.destroy()
  })

  it.each([
    [3, ['0.0', '0.1', '1.0']],
    [4, ['0.0', '0.1', '1.0', '1.1']],
  ])('ends after %i records with a line that tells of the others', async (rowsMax, ids) => {
    const { file } = await open({ limits: { rowsMax } })
    const lines = (await read(file)).split('\r\n')
    expect(lines.slice(1, -2)).toEqual(ids.map((id) => `"${id}"`))
    expect(lines.at(-2)).toBe(
      `"There are more records: this file ends after ${rowsMax}. Narrow the search."`,
    )
  })

  it('tells of no others where there are none', async () => {
    const { file } = await open({ limits: { rowsMax: PAGES * PER_PAGE } })
    expect(await read(file)).not.toContain('more records')
  })

  it('breaks off when who reads may no longer', async () => {
    let mayRead = true
    const { file } = await open({
      onPage: () => clock.advance(6_000),
      isStillAllowed: () => mayRead,
    })
    await file[Symbol.asyncIterator]().next()
    mayRead = false
    await expect(read(file)).rejects.toMatchObject({ code: 'permission_missing' })
  })

  it('breaks off when nobody has read it in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { file } = await open({ limits: { durationMaxMs: 1_000 } })
      vi.advanceTimersByTime(1_001)
      await expect(read(file)).rejects.toThrow('took too long')
    } finally {
      vi.useRealTimers()
    }
  })
})
