/*
 * The table of every list: virtual rows, columns to choose, rows that open by mouse and keyboard, and what is
 * shown while there is nothing. Owns no data: a `List` brings it.
 */
import { Loader, rem, Skeleton, VisuallyHidden } from '@mantine/core'
import type { RowData } from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  useCallback,
  useEffect,
  useRef,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react'
import { DataTableRow } from './data-table-row.tsx'
import classes from './data-table.module.css'
import { isForPage } from './shortcut-scope.ts'
import { ErrorState, StaleList } from './states.tsx'
import { ExportButton, TableMenu } from './table-menu.tsx'
import { useTextScale } from './text-scale.ts'
import { texts } from './texts.ts'
import { ViewMenu } from './view-menu.tsx'
import { useColumns, type Column } from './use-columns.ts'
import type { List } from './use-list.ts'

export type { Column } from './use-columns.ts'

/** As `--helio-row`, in px at the usual text size. */
const ROW_HEIGHT = 38

const DEFAULT_WIDTH = 'minmax(120px, 1fr)'

export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string) => void
}

export interface DataTableProps<Item> {
  /** What the table lists, for those who cannot see it; also where the chosen columns are kept. */
  readonly name: string
  readonly columns: readonly Column<Item>[]
  readonly list: List<Item>
  readonly rowId: (item: Item) => string
  /** Opens an item; the first column should be a link to the same place. */
  readonly onOpen?: (item: Item) => void
  readonly selection?: Selection
  /** Shown in place of rows when the list is empty. */
  readonly empty: ReactNode
  /** The search and what else stands above the rows. */
  readonly toolbar?: ReactNode
  /** At the end of the toolbar, such as the export. */
  readonly actions?: ReactNode
}

export function DataTable<Item extends RowData>(props: DataTableProps<Item>) {
  const { name, list, toolbar, actions, empty } = props
  const { table, visible } = useColumns(
    list.source?.path ?? name,
    props.columns,
    list.items,
    props.rowId,
  )
  const isEmpty = !list.isLoading && list.error === null && list.items.length === 0
  return (
    <section className={classes.frame} aria-label={name}>
      <div className={classes.bar}>
        <div>{toolbar}</div>
        {actions}
        {list.source === undefined ? null : (
          <ViewMenu list={list.source.path} columns={visible.map(({ id }) => id)} />
        )}
        <ExportButton list={list} />
        <TableMenu table={table} list={list} />
      </div>
      <StaleList list={list} />
      {list.error !== null && list.items.length === 0 ? (
        <ErrorState error={list.error} onRetry={list.retry} />
      ) : isEmpty ? (
        empty
      ) : (
        <Rows {...props} table={table} visible={visible} />
      )}
      <footer className={classes.foot} aria-live="polite">
        <span>{footText(list)}</span>
        {list.isLoadingMore ? <Loader size={12} /> : null}
      </footer>
    </section>
  )
}

function footText({ items, hasMore, isLoading }: List<unknown>): string {
  if (isLoading) return texts.loading
  return hasMore ? texts.rowsAndMore(items.length) : texts.rows(items.length)
}

type RowsProps<Item extends RowData> = DataTableProps<Item> & ReturnType<typeof useColumns<Item>>

function Rows<Item extends RowData>({
  table,
  visible,
  list,
  rowId,
  onOpen,
  selection,
  name,
}: RowsProps<Item>) {
  const scroll = useRef<HTMLDivElement>(null)
  const rows = table.getRowModel().rows
  const head = useRef<HTMLDivElement>(null)
  const rowHeight = ROW_HEIGHT * useTextScale(head)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: 1000, height: 800 },
  })
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight])
  const virtualRows = virtualizer.getVirtualItems()
  const first = virtualRows[0]?.index ?? 0
  const last = virtualRows.at(-1)?.index ?? 0
  const { look, isStale } = list
  useEffect(() => look(first, last), [look, first, last])
  // What another search found begins at its beginning.
  useEffect(() => {
    if (isStale) return () => virtualizer.scrollToOffset(0)
    return undefined
  }, [isStale, virtualizer])

  const focusRow = (index: number) => {
    const target = Math.max(0, Math.min(rows.length - 1, index))
    virtualizer.scrollToIndex(target)
    const findRow = () => scroll.current?.querySelector<HTMLElement>(`[data-index="${target}"]`)
    // At once where it is drawn: the next key may be pressed before the next frame.
    const row = findRow()
    if (row) row.focus({ preventScroll: true })
    else requestAnimationFrame(() => findRow()?.focus())
  }
  useStartKey(scroll, () => focusRow(first))
  // One listener for all rows, which so are drawn anew for no other reason than their own.
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const index = rowAt(event.key === 'Enter' ? event.target : rowOfLink(event.target))
    const item = index === undefined ? undefined : rows[index]?.original
    const act = KEYS[event.key]
    if (index === undefined || item === undefined || act === undefined) return
    event.preventDefault()
    if (typeof act === 'number') focusRow(index + act)
    else if (act === 'open') onOpen?.(item)
    else if (act === 'select') selection?.toggle(rowId(item))
    else focusRow(act === 'first' ? 0 : rows.length - 1)
  }
  const onClick = (target: EventTarget) => {
    if (onOpen === undefined || !(target instanceof Element) || isInteractive(target)) return
    const item = rows[rowAt(target.closest('[data-index]')) ?? -1]?.original
    if (item !== undefined) onOpen(item)
  }
  const onToggle = useLatest(selection?.toggle)
  const narrow = visible.filter((column) => column.narrow === true)
  const grid = {
    '--columns': trackList(visible, selection !== undefined),
    '--narrow-columns': trackList(narrow, selection !== undefined),
    '--narrowest-columns': trackList(narrow.map(toShare), selection !== undefined),
  } as CSSProperties
  return (
    <div className={classes.scroll} ref={scroll} data-testid="rows">
      <div
        role="table"
        aria-label={name}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        className={classes.table}
        style={grid}
      >
        <div role="row" aria-rowindex={1} className={classes.head} ref={head}>
          {selection === undefined ? null : (
            <div role="columnheader">
              <VisuallyHidden>{texts.select}</VisuallyHidden>
            </div>
          )}
          {visible.map((column) => (
            <div
              role="columnheader"
              key={column.id}
              className={`${classes.cell} ${column.narrow === true ? '' : classes.wide}`}
            >
              {column.header}
            </div>
          ))}
        </div>
        {list.isLoading ? <LoadingRows /> : null}
        <div
          role="rowgroup"
          className={list.isStale ? classes.stale : undefined}
          style={{ height: virtualizer.getTotalSize(), position: 'relative' }}
          onClick={({ target }) => onClick(target)}
          onKeyDown={onKeyDown}
        >
          {virtualRows.map(({ index, start }) => {
            const item = rows[index]?.original
            if (item === undefined) return null
            const id = rowId(item)
            return (
              <DataTableRow
                key={id}
                item={item}
                id={id}
                index={index}
                start={start}
                columns={visible}
                isReachable={index === first}
                opens={onOpen !== undefined}
                isSelected={selection?.ids.has(id)}
                onToggle={onToggle}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** A function that stays the same and calls the latest one. */
function useLatest(call: ((id: string) => void) | undefined): (id: string) => void {
  const latest = useRef(call)
  useEffect(() => {
    latest.current = call
  })
  return useCallback((id: string) => latest.current?.(id), [])
}

/** The place in the list of what is a row itself. */
function rowAt(target: EventTarget | null): number | undefined {
  const index = target instanceof HTMLElement ? target.dataset['index'] : undefined
  return index === undefined ? undefined : Number(index)
}

/** The row of a link: where a key does not follow the link it is one for the row. */
function rowOfLink(target: EventTarget): EventTarget | null {
  return target instanceof HTMLAnchorElement ? target.closest('[data-index]') : target
}

/** What a key does while a row has the focus. A number moves by so many rows. */
const KEYS: Readonly<Record<string, number | 'open' | 'select' | 'first' | 'last'>> = {
  j: 1,
  ArrowDown: 1,
  k: -1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: 'first',
  End: 'last',
  Enter: 'open',
  o: 'open',
  x: 'select',
}

/** `j` from anywhere on the page but an input leads into the rows. */
function useStartKey(
  scroll: { readonly current: HTMLDivElement | null },
  focusFirst: () => void,
): void {
  const start = useRef(focusFirst)
  useEffect(() => {
    start.current = focusFirst
  })
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'j' || !isForPage(event)) return
      if (scroll.current?.contains(document.activeElement) === true) return
      event.preventDefault()
      start.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [scroll])
}

function isInteractive(target: Element): boolean {
  return target.closest('a, button, input, label, [role=menu]') !== null
}

function trackList(columns: readonly { readonly width?: string }[], isSelectable: boolean): string {
  const tracks = columns.map(({ width = DEFAULT_WIDTH }) => width)
  return [...(isSelectable ? ['20px'] : []), ...tracks].map(toTrack).join(' ')
}

/** A track that grows with the text. */
function toTrack(width: string): string {
  return width.replaceAll(/[\d.]+px/g, (px) => rem(px))
}

/** Where a column has no room for what it needs: its share of the room there is. */
function toShare({ width = DEFAULT_WIDTH }: { readonly width?: string }) {
  return { width: `minmax(0, ${/\d+/.exec(width)?.[0] ?? 1}fr)` }
}

function LoadingRows() {
  return (
    <div aria-hidden>
      {Array.from({ length: 12 }, (_, index) => (
        <Skeleton key={index} height={14} my={12} mx={16} width={`${90 - ((index * 13) % 40)}%`} />
      ))}
    </div>
  )
}
