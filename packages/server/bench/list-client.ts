import type { KeyObject } from 'node:crypto'
import { Pool } from 'undici'
import { decodeCursor, encodeCursor } from '../src/platform/http/cursor.ts'
import type { BenchRun } from './scenario.ts'

/** How many records the pages have that are asked for. */
export const PER_PAGE = 100

const CONNECTIONS = 8
const KEY_MAX = 2 ** 40

export interface ListAnswer {
  readonly bytes: number
  readonly count: number
  readonly nextCursor: string
}

/** A client of the lists of a service, with an API key. */
export interface ListClient {
  /** A page by its path with its query. Rejects for any answer but 200. */
  readonly getPage: (path: string) => Promise<ListAnswer>
  readonly getJson: (path: string) => Promise<unknown>
  /** The path of the last page; undefined for a list of one page, or one that is not cut by numbers. */
  readonly findLastPage: (listPath: string) => Promise<string | undefined>
}

export interface ListClientOptions {
  readonly url: string
  readonly key: string
  /** What the service signs its cursors with: a client would read millions of rows to the last page. */
  readonly cursorKey: KeyObject
}

/** Connects to a service; closed with the run. */
export function createListClient(run: BenchRun, options: ListClientOptions): ListClient {
  const { url, key, cursorKey } = options
  const pool = new Pool(url, { connections: CONNECTIONS, keepAliveTimeout: 60_000 })
  run.cleanup.add(() => pool.destroy())
  const getText = async (path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` }
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`)
    return text
  }
  const getPage = async (path: string): Promise<ListAnswer> => {
    const text = await getText(path)
    const { pagination } = JSON.parse(text) as {
      pagination: { next_cursor: string; count: number }
    }
    const { count, next_cursor: nextCursor } = pagination
    return { bytes: Buffer.byteLength(text), count, nextCursor }
  }
  const pageAfter = (list: string, lastKey: number) => {
    const contents = { list, query: '', perPage: PER_PAGE, lastKey: String(lastKey) }
    return toListPath(list, { cursor: encodeCursor(contents, cursorKey) })
  }
  return {
    getPage,
    getJson: async (path) => JSON.parse(await getText(path)) as unknown,
    async findLastPage(list) {
      const { nextCursor } = await getPage(toListPath(list))
      if (nextCursor === '' || !isNumber(decodeCursor(nextCursor, cursorKey).lastKey)) {
        return undefined
      }
      let [low, high] = [0, KEY_MAX]
      while (high - low > 1) {
        run.signal.throwIfAborted()
        const middle = Math.floor((low + high) / 2)
        if ((await getPage(pageAfter(list, middle))).nextCursor !== '') low = middle
        else high = middle
      }
      return pageAfter(list, high)
    },
  }
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text)
}

/** The path of a page of `PER_PAGE` records. */
export function toListPath(
  list: string,
  parameters: { readonly query?: string; readonly cursor?: string; readonly order?: 'desc' } = {},
): string {
  return `${list}?${new URLSearchParams({ per_page: String(PER_PAGE), ...parameters }).toString()}`
}
