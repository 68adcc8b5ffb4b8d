/* The views of lists that are saved: how they are read, opened, and compared with what is shown. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouter, useRouterState } from '@tanstack/react-router'
import { getSavedViews } from '../api/generated/sdk.gen.ts'
import type { SavedView } from '../api/generated/types.gen.ts'
import { PAGE_SIZE } from './list-page.ts'
import { chooseForTable, useTableChoices } from './table-choices.ts'

/** As many as there can be: a hundred of one's own and three hundred shared ones. */
const PAGES_MAX = 4

const savedViewsQuery = queryOptions({
  queryKey: ['saved_views', 'list'],
  queryFn: async ({ signal }) => {
    const views: SavedView[] = []
    let cursor = ''
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = { per_page: PAGE_SIZE, ...(cursor === '' ? {} : { cursor }) }
      const { data } = await getSavedViews({ query, signal, throwOnError: true })
      views.push(...data.data)
      cursor = data.pagination.next_cursor
      if (cursor === '') break
    }
    return views.sort((left, right) => left.name.localeCompare(right.name))
  },
})

/**
 * All views that the admin sees, by name; none while they are read. `isOpen` says whether they are asked for at all.
 */
export function useSavedViews(isOpen = true): readonly SavedView[] {
  return useQuery({ ...savedViewsQuery, enabled: isOpen }).data ?? []
}

/** Goes to the page of a view, and shows the list there as it was saved. */
export function useOpenView(): (view: SavedView) => void {
  const router = useRouter()
  return ({ list, page, search, columns, order }) => {
    chooseForTable(list, {
      ...(columns === null ? {} : { only: columns }),
      ...(order === null ? {} : { order }),
    })
    const parsed = router.options.parseSearch(search === '' ? '' : `?${search}`)
    void router.navigate({ to: page, search: parsed as never })
  }
}

/** What is shown of a list, as a view holds it. */
export type ShownView = Pick<SavedView, 'list' | 'page' | 'search' | 'columns' | 'order'>

/** What is shown now. A detail that lies open over the list is not a part of it. */
export function useShownView(list: string, columns: readonly string[]): ShownView {
  const router = useRouter()
  const location = useRouterState({ select: (state) => state.location })
  const [{ order, columns: chosen, only }] = useTableChoices(list)
  const search = Object.entries(location.search).filter(([name]) => name !== 'open')
  const text = router.options.stringifySearch(Object.fromEntries(search))
  return {
    list,
    page: location.pathname,
    search: text.replace(/^\?/, ''),
    columns: chosen === undefined && only === undefined ? null : [...columns],
    order: order ?? null,
  }
}

/** Whether a view shows what is shown now. */
export function isShown(view: SavedView, shown: ShownView): boolean {
  return (
    view.list === shown.list &&
    view.page === shown.page &&
    view.search === shown.search &&
    view.order === shown.order &&
    String(view.columns) === String(shown.columns)
  )
}
