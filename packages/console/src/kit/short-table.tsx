/* A table inside a page, for what is few or shown in parts. Long lists have `DataTable`. */
import { Button, Loader, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorState, StaleList } from './states.tsx'
import classes from './short-table.module.css'
import { texts } from './texts.ts'
import type { Column } from './use-columns.ts'
import type { List } from './use-list.ts'

interface ShortTableProps<Item> {
  /** What the table lists, for those who cannot see it. */
  readonly name: string
  readonly columns: readonly Column<Item>[]
  readonly list: List<Item>
  readonly rowId: (item: Item) => string
  /** Shown in place of rows when there is none. */
  readonly empty: ReactNode
}

export function ShortTable<Item>({ name, columns, list, rowId, empty }: ShortTableProps<Item>) {
  const { items, isLoading, error, hasMore } = list
  if (error !== null && items.length === 0) return <ErrorState error={error} onRetry={list.retry} />
  if (isLoading) {
    return (
      <div className={classes.loading} role="status" aria-label={texts.loading}>
        <Skeleton height={14} width="70%" />
        <Skeleton height={14} width="55%" />
      </div>
    )
  }
  if (items.length === 0) return <div className={classes.empty}>{empty}</div>
  return (
    <>
      <StaleList list={list} />
      <div
        className={classes.scroll}
        tabIndex={0}
        role="region"
        aria-label={name}
        data-testid="short-table"
      >
        <table className={classes.table} aria-label={name}>
          <thead>
            <tr>
              {columns.map(({ id, header, narrow }) => (
                <th key={id} scope="col" data-wide={narrow === true ? undefined : ''}>
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={rowId(item)}>
                {columns.map(({ id, cell, narrow }) => (
                  <td key={id} data-wide={narrow === true ? undefined : ''}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {hasMore ? (
          <div className={classes.more}>
            <Button variant="subtle" size="xs" onClick={list.loadMore}>
              {list.isLoadingMore ? <Loader size={14} /> : texts.showMore}
            </Button>
          </div>
        ) : null}
      </div>
    </>
  )
}
