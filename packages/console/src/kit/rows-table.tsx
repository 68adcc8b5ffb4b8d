/* Rows whose columns only the answer knows: what osquery or a report gives back. */
import { Text } from '@mantine/core'
import { useMemo, type ReactNode } from 'react'
import classes from './rows-table.module.css'
import { texts } from './texts.ts'

/** Rows that are drawn at once; all of them are in the export. */
const SHOWN_MAX = 500

export type AnswerRow = Readonly<Record<string, unknown>>

interface RowsTableProps {
  readonly name: string
  readonly rows: readonly AnswerRow[]
  /** What stands before the columns of each row, such as its device. */
  readonly lead?: { readonly header: string; readonly cell: (row: AnswerRow) => ReactNode }
  /** Columns that are known beforehand, in their order. */
  readonly columns?: readonly string[]
}

export function RowsTable({ name, rows, lead, columns }: RowsTableProps) {
  const names = useMemo(() => columns ?? listColumns(rows), [columns, rows])
  return (
    <>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={name}>
        <table className={classes.table} aria-label={name}>
          <thead>
            <tr>
              {lead === undefined ? null : <th scope="col">{lead.header}</th>}
              {names.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN_MAX).map((row, index) => (
              <tr key={index}>
                {lead === undefined ? null : <td className={classes.lead}>{lead.cell(row)}</td>}
                {names.map((column) => (
                  <td key={column}>{formatValue(row[column])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > SHOWN_MAX ? (
        <Text size="xs" c="dimmed" p="xs">
          {texts.firstRows(SHOWN_MAX, rows.length)}
        </Text>
      ) : null}
    </>
  )
}

/** Every column that some row has, in the order of first sight. */
export function listColumns(rows: readonly AnswerRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))]
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
