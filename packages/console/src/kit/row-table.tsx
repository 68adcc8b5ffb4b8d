/* Rows that a device answered: a name and a value each, or a table of columns. */
import { Table } from '@mantine/core'

export type AnsweredRow = Readonly<Record<string, string>>

interface RowTableProps {
  /** What the rows are, for those who cannot see them. */
  readonly name: string
  readonly rows: readonly AnsweredRow[]
  /** Columns that come first, where a row has them. */
  readonly first?: readonly string[]
}

/** Every column that a row has, in a table that scrolls sideways. */
export function RowTable({ name, rows, first = [] }: RowTableProps) {
  const known = new Set(rows.flatMap((row) => Object.keys(row)))
  const names = [...first.filter((each) => known.has(each)), ...known].filter(
    (each, index, all) => all.indexOf(each) === index,
  )
  return (
    <Table.ScrollContainer minWidth={Math.min(names.length * 120, 1200)} tabIndex={0}>
      <Table verticalSpacing={6} horizontalSpacing="md" fz={13} aria-label={name}>
        <Table.Thead>
          <Table.Tr>
            {names.map((each) => (
              <Table.Th key={each}>{each}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={index}>
              {names.map((each) => (
                <Table.Td key={each} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {row[each] ?? ''}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
