import { createSecretKey } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { evaluateSearch } from '../../../test/support/evaluate-search.ts'
import type { SearchField } from '../../platform/search/search-field.ts'
import { checkPermission } from '../../platform/http/access.ts'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { decodeCursor, encodeCursor } from '../../platform/http/cursor.ts'
import { listRoute } from '../../platform/http/list-route.ts'
import type { PageWindow } from '../../platform/db/page.ts'
import { registerApi } from './register-api.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const fields: SearchField[] = [
  { name: 'id', type: 'id', operators: [':'], list: true },
  { name: 'colour', type: 'text', operators: [':', '~'] },
]

const rows = Array.from({ length: 60 }, (_, index) => ({
  id: String(index + 1),
  colour: index % 2 === 0 ? 'light red' : 'blue',
}))

const item = z.object({ id: z.string(), colour: z.string() })
const routes = [
  listRoute({
    path: '/boxes',
    summary: 'List boxes',
    tags: ['Boxes'],
    permission: 'public',
    fields,
    item,
    isOrdered: true,
    filters: z.object({ omit: z.enum(['1', 'true']).optional() }),
    fetch: async ({ search, window, filters }) =>
      (window.isDescending === true ? rows.toReversed() : rows)
        .filter(({ id }) => isBehind(id, window))
        .filter((row) => search === undefined || evaluateSearch(search, row))
        .slice(0, window.limit)
        .map((row) => ({ ...row, colour: filters.omit === undefined ? row.colour : '' })),
    toJson: (row) => row,
  }),
  listRoute({
    path: '/rooms/:id/boxes',
    summary: 'List the boxes of a room',
    tags: ['Boxes'],
    permission: 'public',
    item,
    fetch: async ({ params, window }) =>
      rows.filter((row) => row.colour === params.id).slice(0, window.limit),
    toJson: (row) => row,
  }),
]

function isBehind(id: string, { afterId, isDescending }: PageWindow): boolean {
  if (afterId === undefined) return true
  return isDescending === true ? Number(id) < Number(afterId) : Number(id) > Number(afterId)
}

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

function setUp() {
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    baseUrl: 'https://trust.example.com',
    limits: { bodyBytesMax: 1_000 },
  })
  apps.push(app)
  registerApi(app, {
    routes,
    paging: { baseUrl: 'https://trust.example.com', cursorKey: key },
    callers: {
      credentials: [],
      rateLimiter: { take: async () => Promise.reject(new Error('not called')) },
      limits: { requestsPerMinute: 270, failedAuthenticationsPerMinute: 270 },
    },
    isFeatureEnabled: async () => true,
    checkPermission,
    answerOnce: async () => Promise.reject(new Error('not called')),
  })
  return app
}

interface Envelope {
  data: { id: string; colour: string }[]
  pagination: { next: string; next_cursor: string; current_cursor: string; count: number }
}

async function getPage(app: ReturnType<typeof setUp>, url: string): Promise<Envelope> {
  const response = await app.inject({ url })
  expect(response.statusCode, response.body).toBe(200)
  return response.json()
}

async function getCode(app: ReturnType<typeof setUp>, url: string) {
  const response = await app.inject({ url })
  return [response.statusCode, response.json<{ code: string }>().code]
}

describe('a list', () => {
  it('takes a blank query where there is nothing to search, and refuses any other', async () => {
    const app = setUp()
    const blank = await app.inject('/rooms/blue/boxes?query=&per_page=1')
    expect(blank.json<Envelope>().data).toHaveLength(1)
    expect((await app.inject('/rooms/blue/boxes?query=colour:blue')).statusCode).toBe(400)
  })

  it('holds 25 records by default and walks to the end through its own addresses', async () => {
    const app = setUp()
    const sizes: number[] = []
    const seen: string[] = []
    let url = '/boxes'
    let cursor = ''
    while (url !== '') {
      const page = await getPage(app, url)
      expect(page.pagination.current_cursor).toBe(cursor)
      expect(page.pagination.count).toBe(page.data.length)
      sizes.push(page.data.length)
      seen.push(...page.data.map((row) => row.id))
      cursor = page.pagination.next_cursor
      url = page.pagination.next.replace('https://trust.example.com', '')
    }
    expect(sizes).toEqual([25, 25, 10])
    expect(seen).toEqual(rows.map((row) => row.id))
    expect(cursor).toBe('')
  })

  it('ends with the page that its last record fills', async () => {
    const page = await getPage(setUp(), '/boxes?per_page=30&query=colour:blue')
    expect(page.data).toHaveLength(30)
    expect(page.pagination).toEqual({ next: '', next_cursor: '', current_cursor: '', count: 30 })
  })

  it('continues a search, its page size and its address with the cursor alone', async () => {
    const app = setUp()
    const first = await getPage(app, '/boxes/?query=colour~RED&per_page=4')
    const { next, next_cursor: cursor } = first.pagination
    expect(next).toBe(`https://trust.example.com/boxes?cursor=${cursor}&per_page=4`)
    const second = await getPage(app, `/boxes?cursor=${cursor}`)
    expect(second.data.map((row) => row.id)).toEqual(['9', '11', '13', '15'])
    const repeated = await getPage(app, `/boxes?cursor=${cursor}&query=colour~RED&per_page=1`)
    expect(repeated.data.map((row) => row.id)).toEqual(['9'])
  })

  it('repeats its own filters in the address of the next page', async () => {
    const app = setUp()
    const page = await getPage(app, '/boxes?omit=1&per_page=1')
    expect(new URL(page.pagination.next).searchParams.get('omit')).toBe('1')
    expect(page.data[0]?.colour).toBe('')
  })

  it('keeps to its filters where a cursor alone continues it, and refuses others', async () => {
    const app = setUp()
    const first = await getPage(app, '/boxes?omit=1&per_page=1&query=colour:blue')
    const second = await getPage(app, `/boxes?cursor=${first.pagination.next_cursor}`)
    expect(second.data).toEqual([{ id: '4', colour: '' }])
    const { next_cursor: cursor } = second.pagination
    for (const alike of ['', '&omit=1']) {
      expect((await getPage(app, `/boxes?cursor=${cursor}${alike}`)).data).toEqual([
        { id: '6', colour: '' },
      ])
    }
    expect(await getCode(app, `/boxes?cursor=${cursor}&omit=true`)).toEqual([400, 'invalid_cursor'])
    const { pagination } = await getPage(app, '/boxes?per_page=1')
    const filteredLater = await getPage(app, `/boxes?cursor=${pagination.next_cursor}&omit=1`)
    expect(filteredLater.data[0]?.colour).toBe('')
  })

  it('can be continued whatever its search is made of', async () => {
    const app = setUp()
    for (const text of [
      '\\"'.repeat(2_034),
      '\u0001'.repeat(4_068),
      '\u007f\u0085'.repeat(1_350),
    ]) {
      const search = encodeURIComponent(`id:1 OR id:2 OR colour~"${text}"`)
      const { pagination } = await getPage(app, `/boxes?per_page=1&query=${search}`)
      const next = pagination.next.replace('https://trust.example.com', '')
      expect((await getPage(app, next)).data.map((row) => row.id)).toEqual(['2'])
      // Node.js takes no more in the line of a request and its headers.
      expect(next.length).toBeLessThan(16_000)
    }
  })

  it('gives the newest records first, page after page, also by the cursor alone', async () => {
    const app = setUp()
    const first = await getPage(app, '/boxes?order=desc&per_page=2&query=colour:blue')
    expect(first.data.map((row) => row.id)).toEqual(['60', '58'])
    const { next, next_cursor: cursor } = first.pagination
    const second = await getPage(app, `/boxes?cursor=${cursor}`)
    expect(second.data.map((row) => row.id)).toEqual(['56', '54'])
    const third = await getPage(app, `/boxes?cursor=${second.pagination.next_cursor}&order=desc`)
    expect(third.data.map((row) => row.id)).toEqual(['52', '50'])
    const followed = await getPage(app, next.replace('https://trust.example.com', ''))
    expect(followed.data).toEqual(second.data)
    expect(await getCode(app, `/boxes?cursor=${cursor}&order=asc`)).toEqual([400, 'invalid_cursor'])
  })

  it('takes blank parameters for absent ones', async () => {
    const app = setUp()
    for (const blank of ['', '%20']) {
      const names = ['cursor', 'query', 'per_page', 'order', 'omit']
      const url = `/boxes?${names.map((name) => `${name}=${blank}`).join('&')}`
      const { data, pagination } = await getPage(app, url)
      expect([data.length, data[0]?.id]).toEqual([25, '1'])
      const second = await getPage(app, `/boxes?cursor=${pagination.next_cursor}&order=${blank}`)
      expect(second.data[0]?.id).toBe('26')
    }
  })

  it.each(['0', '101', '-1', '1.5', 'many', '1e1', '%201'])('refuses per_page=%s', async (text) => {
    expect(await getCode(setUp(), `/boxes?per_page=${text}`)).toEqual([400, 'invalid_parameter'])
  })

  it.each([
    ['/boxes?limit=5', 'invalid_parameter'],
    ['/boxes?per_page=5&per_page=6', 'invalid_parameter'],
    ['/boxes?order=name', 'invalid_parameter'],
    ['/boxes?colour=', 'invalid_parameter'],
    ['/rooms/1/boxes?order=desc', 'invalid_parameter'],
    ['/rooms/1/boxes?query=id:1', 'invalid_parameter'],
    ['/boxes?query=shape:round', 'invalid_search'],
    ['/boxes?cursor=garbage', 'invalid_cursor'],
    ['/boxes?cursor=%00%ff', 'invalid_cursor'],
  ])('refuses %s with %s', async (url, code) => {
    expect(await getCode(setUp(), url)).toEqual([400, code])
  })

  it.each(['per_page=5&per_page=6', 'order=asc&order=desc', 'cursor=&cursor='])(
    'says of %s what is wrong with it',
    async (text) => {
      const response = await setUp().inject({ url: `/boxes?${text}` })
      const [path = ''] = text.split('=')
      expect(response.json()).toMatchObject({ details: [{ path, message: 'Must be given once.' }] })
    },
  )

  it('refuses a cursor with another query, of another list, and of another parent', async () => {
    const app = setUp()
    const page = await getPage(app, '/boxes?per_page=1&query=colour:blue')
    const cursor = page.pagination.next_cursor
    const room = await getPage(app, '/rooms/blue/boxes?per_page=1')
    const roomCursor = room.pagination.next_cursor
    expect(await getCode(app, `/boxes?cursor=${cursor}&query=id:1`)).toEqual([
      400,
      'invalid_cursor',
    ])
    expect(await getCode(app, `/rooms/blue/boxes?cursor=${cursor}`)).toEqual([
      400,
      'invalid_cursor',
    ])
    expect(await getCode(app, `/rooms/red/boxes?cursor=${roomCursor}`)).toEqual([
      400,
      'invalid_cursor',
    ])
  })
})

describe('a cursor', () => {
  const contents = { list: '/boxes', query: 'colour:"é"', perPage: 25, lastKey: '9' }

  it('carries its contents', () => {
    expect(decodeCursor(encodeCursor(contents, key), key)).toEqual(contents)
  })

  it('is refused under another key and after any change', () => {
    const cursor = encodeCursor(contents, key)
    expect(() => decodeCursor(cursor, createSecretKey(Buffer.alloc(32, 2)))).toThrow('not issued')
    for (let index = 0; index < cursor.length; index += 1) {
      const changed =
        cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1)
      expect(() => decodeCursor(changed, key)).toThrow('not issued')
    }
    expect(() => decodeCursor(`${cursor}=`, key)).toThrow('not issued')
    expect(() => decodeCursor('', key)).toThrow('not issued')
  })
})
