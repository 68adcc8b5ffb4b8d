import { PAGE_SIZE, type ListPage, type PageRequest } from './list-page.ts'

/**
 * Every record of a list that the service bounds, page after page: for choices of which some may stand on any page.
 * Long lists have a search instead (`record-picker.tsx`).
 */
export async function readAll<Item>(
  read: (page: PageRequest) => Promise<{ readonly data: unknown }>,
  signal: AbortSignal,
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | undefined; cursor !== '';) {
    const query = { per_page: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }
    const { data } = await read({ query, signal, throwOnError: true })
    const page = data as ListPage<Item>
    items.push(...page.data)
    cursor = page.pagination.next_cursor
  }
  return items
}
