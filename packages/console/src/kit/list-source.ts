/*
 * Which list of the API a table shows, found out by asking for a page in a way that sends nothing: so every list can
 * be exported and ordered without a word in its page.
 */
import { ApiError, client } from '../api/client.ts'
import { ORDERED_LISTS } from '../api/generated/search-fields.gen.ts'
import { PAGE_SIZE, type Order, type PageRequest, type ReadPage } from './list-page.ts'
import { saveFile } from './save-file.ts'
import { texts } from './texts.ts'

/** A list of the API, as a table asks for it. */
export interface ListSource {
  /** Such as `/devices` or `/ssf_streams/{id}/deliveries`. */
  readonly path: string
  /** The order that the page asks for by itself; undefined for lists that have one order alone. */
  readonly order: Order | undefined
}

/** What is handed to the client of the API for a request. */
type Asked = Parameters<typeof client.get>[0]

/** Parameters that belong to a page on the screen and not to a file. */
const OF_THE_SCREEN: readonly string[] = ['per_page', 'cursor', 'expand']

/** The list that a page reads. */
export function findSource(read: ReadPage<unknown>): ListSource | undefined {
  let asked: Asked | undefined
  const page = pageThrough(async (options) => {
    asked = options
    return new Promise<never>(() => undefined)
  }, {})
  void read(page)
  if (asked === undefined) return undefined
  const { url, query } = asked
  const own = query?.['order'] === 'desc' ? 'desc' : 'asc'
  return { path: url, order: ORDERED_LISTS.has(url) ? own : undefined }
}

/** Saves everything that the search finds as a file. */
export async function exportList(
  read: ReadPage<unknown>,
  asked: { readonly query?: string; readonly order?: Order },
): Promise<void> {
  await read(pageThrough(saveAsFile, asked))
}

async function saveAsFile({ url, query = {}, ...options }: Asked) {
  const kept = Object.entries(query).filter(([name]) => !OF_THE_SCREEN.includes(name))
  try {
    const { data } = await client.get<Blob, unknown, true>({
      ...options,
      throwOnError: true,
      url: `/exports${url}.csv`,
      query: Object.fromEntries(kept),
      parseAs: 'blob',
    })
    saveFile(data, `${url.split('/').at(-1) ?? ''}.csv`)
  } catch (error) {
    if (error instanceof ApiError) throw error
    // The connection broke: the browser says so in words of its own.
    throw new Error(texts.exportBroke, { cause: error })
  }
  return { data: { data: [], pagination: { next_cursor: '' } } }
}

/** A page whose request goes another way. */
function pageThrough(
  get: (options: Asked) => Promise<unknown>,
  query: Partial<PageRequest['query']>,
): PageRequest {
  const through = { ...client, get }
  return {
    query: { ...query, per_page: PAGE_SIZE },
    signal: new AbortController().signal,
    throwOnError: true,
    client: through as unknown as typeof client,
  }
}
