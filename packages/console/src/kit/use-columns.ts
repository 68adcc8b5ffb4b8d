import {
  columnVisibilityFeature,
  createColumnHelper,
  tableFeatures,
  useTable,
  type RowData,
} from '@tanstack/react-table'
import { useMemo, type ReactNode } from 'react'
import { useTableChoices } from './table-choices.ts'

/** A column of a table. The first one is always shown and should link to the item. */
export interface Column<Item> {
  readonly id: string
  readonly header: string
  readonly cell: (item: Item) => ReactNode
  /** A track of a CSS grid, in px at the usual text size; `minmax(120px, 1fr)` when left out. */
  readonly width?: string
  /** Shown where there is little room as well. */
  readonly narrow?: boolean
  /** Not shown until somebody chooses it. */
  readonly hidden?: boolean
}

/** Nothing is chosen: the same object each time. */
const NOTHING: Readonly<Record<string, boolean>> = {}

const features = tableFeatures({ columnVisibilityFeature })

/** The table model over a list of items, and its columns: which are shown is kept in the browser. */
export function useColumns<Item extends RowData>(
  name: string,
  columns: readonly Column<Item>[],
  items: readonly Item[],
  rowId: (item: Item) => string,
) {
  const [{ columns: shown = NOTHING, only }, choose] = useTableChoices(name)
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Item>()
    return columns.map(({ id, header }, index) =>
      helper.display({ id, header, enableHiding: index > 0 }),
    )
  }, [columns])
  const columnVisibility = useMemo(() => {
    const byDefault = columns.map(
      ({ id, hidden }, index) =>
        [id, only === undefined ? hidden !== true : index === 0 || only.includes(id)] as const,
    )
    return { ...Object.fromEntries(byDefault), ...shown }
  }, [columns, shown, only])
  const table = useTable({
    features,
    columns: definitions,
    data: items,
    getRowId: rowId,
    state: { columnVisibility },
    onColumnVisibilityChange: (change) =>
      choose({
        columns: typeof change === 'function' ? change(columnVisibility) : change,
        only: undefined,
      }),
  })
  const visible = useMemo(
    () => columns.filter(({ id }) => columnVisibility[id] !== false),
    [columns, columnVisibility],
  )
  return { table, visible }
}
