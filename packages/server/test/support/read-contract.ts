/*
 * What holds for every list and every record of the REST API, as tests: each file of a resource runs
 * them on its own routes and adds what is special about the resource.
 */
import { describe, expect, it } from 'vitest'
import { BASE_URL, type TestApi, type TestRefusal } from './api-app.ts'

export interface TestPage {
  readonly data: readonly { readonly id: string }[]
  readonly pagination: {
    readonly next: string
    readonly next_cursor: string
    readonly current_cursor: string
    readonly count: number
  }
}

export interface ListContract {
  readonly api: () => TestApi
  readonly path: () => string
  /** Every searchable field with its operators, as the refusal of an unknown one names it. */
  readonly fields: readonly string[]
  /** A search that meets at least three records, but not all. */
  readonly narrowSearch: () => string
}

/** The tests of a list that holds at least four records. */
export function describeListContract({ api, path, fields, narrowSearch }: ListContract): void {
  const list = async (query = '') => api().request<TestPage>(`${path()}${query}`)
  const refusal = async (query: string) => api().request<TestRefusal>(`${path()}${query}`)
  const idsOf = (page: TestPage) => page.data.map(({ id }) => id)

  describe('as a list', () => {
    it('answers the envelope, all records by ascending id', async () => {
      const { status, headers, body } = await list('?per_page=100')
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(body.pagination).toEqual({
        next: '',
        next_cursor: '',
        current_cursor: '',
        count: body.data.length,
      })
      expect(body.data.length).toBeGreaterThan(3)
      expect(idsOf(body)).toEqual(idsOf(body).sort((a, b) => Number(a) - Number(b)))
    })

    it('leads through all pages by an absolute address that can be fetched as it is', async () => {
      const all = idsOf((await list('?per_page=100')).body)
      const seen: string[] = []
      let url = `${path()}?per_page=2`
      for (;;) {
        const { status, body } = await api().request<TestPage>(url)
        expect(status).toBe(200)
        expect(body.data.length).toBeLessThanOrEqual(2)
        expect(body.pagination.count).toBe(body.data.length)
        seen.push(...idsOf(body))
        const { next } = body.pagination
        if (next === '') break
        expect(next.startsWith(`${BASE_URL}${path()}?`)).toBe(true)
        expect(new URL(next).searchParams.get('cursor')).toBe(body.pagination.next_cursor)
        expect(new URL(next).searchParams.get('per_page')).toBe('2')
        url = next.slice(BASE_URL.length)
      }
      expect(seen).toEqual(all)
    })

    it('continues a search by the cursor alone', async () => {
      const query = encodeURIComponent(narrowSearch())
      const whole = (await list(`?per_page=100&query=${query}`)).body
      const all = (await list('?per_page=100')).body
      expect(whole.data.length).toBeGreaterThanOrEqual(3)
      expect(whole.data.length).toBeLessThan(all.data.length)
      const first = (await list(`?per_page=1&query=${query}`)).body
      const cursor = first.pagination.next_cursor
      const second = (await list(`?cursor=${cursor}`)).body
      expect(second.pagination.current_cursor).toBe(cursor)
      expect(idsOf(second)).toEqual(idsOf(whole).slice(1, 2))
      const rest = (await list(`?cursor=${cursor}&per_page=100`)).body
      expect([...idsOf(first), ...idsOf(rest)]).toEqual(idsOf(whole))
      expect(rest.pagination.next).toBe('')
    })

    it.each(['x', 'bm90IG91cnM', '%00', 'NCw0'])('refuses the cursor %s', async (cursor) => {
      const { status, body } = await refusal(`?cursor=${cursor}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ error: 'Bad request', code: 'invalid_cursor' })
    })

    it('refuses a cursor together with another search', async () => {
      const { next_cursor: cursor } = (await list('?per_page=1')).body.pagination
      const query = encodeURIComponent(narrowSearch())
      const { status, body } = await refusal(`?cursor=${cursor}&query=${query}`)
      expect(status).toBe(400)
      expect(body.code).toBe('invalid_cursor')
    })

    it.each(['0', '101', '-1', '2.5', 'all'])('refuses %s records per page', async (count) => {
      const { status, body } = await refusal(`?per_page=${count}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        code: 'invalid_parameter',
        details: [{ path: 'per_page', message: expect.stringContaining('1 to 100') as string }],
      })
    })

    it('refuses an unknown parameter and names those that exist', async () => {
      const { status, body } = await refusal('?page=2')
      expect(status).toBe(400)
      expect(body.message).toContain('cursor, per_page, query')
    })

    it('refuses a search for an unknown field and names all fields with their operators', async () => {
      const { status, body } = await refusal('?query=nonsense:1')
      expect(status).toBe(400)
      expect(body.code).toBe('invalid_search')
      expect(body.message).toContain('"nonsense" is not a field')
      for (const field of fields) expect(body.message).toContain(field)
    })

    it('takes a slash at the end, blank parameters and a content type without a body', async () => {
      const plain = await list()
      for (const url of [`${path()}/`, `${path()}?query=&cursor=&per_page=`, `${path()}/?query=`]) {
        const { status, body } = await api().request<TestPage>(url, {
          headers: { 'content-type': 'application/json' },
        })
        expect(status, url).toBe(200)
        expect(body, url).toEqual(plain.body)
      }
    })

    it('answers in both versions of the API', async () => {
      for (const version of ['2023-05-26', '2026-04-07']) {
        const headers = { 'x-kolide-api-version': version }
        const { status } = await api().request(path(), { headers })
        expect(status, version).toBe(200)
      }
    })
  })

  describeCredentials(api, path)
}

export interface RecordContract {
  readonly api: () => TestApi
  /** The address of an existing record. */
  readonly path: () => string
  /** What comes after the id, such as `/open_issues`. */
  readonly suffix?: string
}

/** No record has one of these ids; the last fits the column of no table. */
const MISSING_IDS = [
  'abc',
  '0',
  '-1',
  '01',
  '1.5',
  '%20',
  '999999999',
  '9'.repeat(18),
  '9'.repeat(40),
]

/** The tests of the address of a single record, or of a list that belongs to one. */
export function describeRecordContract({ api, path, suffix = '' }: RecordContract): void {
  const addressOf = (id: string) => path().replace(/[^/]+$/, id) + suffix

  describe('as a record', () => {
    it('takes a slash at the end and a content type without a body', async () => {
      const plain = await api().request(`${path()}${suffix}`)
      expect(plain.status).toBe(200)
      const other = await api().request(`${path()}${suffix}/`, {
        headers: { 'content-type': 'application/json' },
      })
      expect(other.status).toBe(200)
      expect(other.body).toEqual(plain.body)
    })

    it.each(MISSING_IDS)('is not found under the id %s', async (id) => {
      const { status, body } = await api().request<TestRefusal>(addressOf(id))
      expect(status).toBe(404)
      expect(body).toMatchObject({ error: 'Not found', code: 'not_found' })
    })
  })

  describeCredentials(api, () => `${path()}${suffix}`)
}

function describeCredentials(api: () => TestApi, path: () => string): void {
  it.each([
    ['no credential', null, 'Bearer'],
    ['a text that is no key', 'abc', 'Bearer error="invalid_token"'],
    [
      'an unknown key',
      'k2sk_v1_0000000000000000000000000000000000000000000000',
      'Bearer error="invalid_token"',
    ],
  ])('is refused with %s', async (_what, key, challenge) => {
    const { status, headers, body } = await api().request<TestRefusal>(path(), { key })
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toBe(challenge)
    expect(body).toMatchObject({ error: 'Unauthorized', code: 'unauthenticated' })
  })
}

/** The names, among those of `ids`, of the records that a search of a list finds, in its order. */
export async function findNames(
  api: TestApi,
  path: string,
  query: string,
  ids: Readonly<Record<string, string>>,
): Promise<(string | undefined)[]> {
  const url = `${path}?query=${encodeURIComponent(query)}`
  const { body } = await api.request<{ data: { id: string }[] }>(url)
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
  return body.data.map(({ id }) => nameOf.get(id))
}

/** `name:`, `name~` and so on: what a list of fields offers. */
export function toTrials(
  fields: readonly { readonly name: string; readonly operators: readonly string[] }[],
): string[] {
  return fields.flatMap(({ name, operators }) => operators.map((sign) => name + sign)).sort()
}

/** The fields with their operators that searches try out. */
export function trialsOf(searches: readonly string[]): string[] {
  const trials = searches.flatMap((search) => search.match(/\b[a-z_]+[:~<>](?=[^ ])/g) ?? [])
  return [...new Set(trials)].sort()
}
