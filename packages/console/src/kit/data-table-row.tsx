/*
 * A row of a table. It is drawn anew only when something of its own has changed: a search draws a list several times.
 */
import { Checkbox } from '@mantine/core'
import { memo, type ReactElement } from 'react'
import classes from './data-table.module.css'
import { texts } from './texts.ts'
import type { Column } from './use-columns.ts'

interface DataTableRowProps<Item> {
  readonly item: Item
  readonly id: string
  /** Its place in the list. */
  readonly index: number
  /** How far below the first row it stands, in pixels. */
  readonly start: number
  readonly columns: readonly Column<Item>[]
  /** Whether the tab key leads here. */
  readonly isReachable: boolean
  readonly opens: boolean
  /** Undefined where rows cannot be selected. */
  readonly isSelected: boolean | undefined
  /** The same function for as long as the table is shown. */
  readonly onToggle: (id: string) => void
}

function Row<Item>({
  item,
  id,
  index,
  start,
  columns,
  isReachable,
  opens,
  isSelected,
  onToggle,
}: DataTableRowProps<Item>) {
  return (
    <div
      role="row"
      data-index={index}
      data-opens={opens ? '' : undefined}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={isReachable ? 0 : -1}
      className={classes.row}
      style={{ transform: `translateY(${start}px)` }}
    >
      {isSelected === undefined ? null : (
        <div role="cell">
          <Checkbox
            size="xs"
            checked={isSelected}
            onChange={() => onToggle(id)}
            aria-label={texts.selectRow(id)}
          />
        </div>
      )}
      {columns.map((column) => (
        <div
          role="cell"
          key={column.id}
          className={`${classes.cell} ${column.narrow === true ? '' : classes.wide}`}
        >
          {column.cell(item)}
        </div>
      ))}
    </div>
  )
}

export const DataTableRow = memo(Row) as <Item>(props: DataTableRowProps<Item>) => ReactElement
