/* One table that devices report, and its rows. */
import { Anchor, Button } from '@mantine/core'
import { PencilIcon, TableIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  getReportingTablesByName,
  getReportingTablesByNameTableRecords,
} from '../api/generated/sdk.gen.ts'
import type { ReportingTable, TableRecord } from '../api/generated/types.gen.ts'
import type { SearchField } from '../api/generated/search-fields.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { texts } from './texts.ts'

const ABOVE = [
  { label: texts.title, to: '/reports' },
  { label: texts.tables, to: '/reports/tables' },
]

export function TablePage() {
  const { name } = useParams({ from: '/frame/reports/tables/$name' })
  const query = useQuery({
    queryKey: ['reporting_tables', name, 'table'],
    queryFn: async ({ signal }) =>
      (await getReportingTablesByName({ path: { name }, signal, throwOnError: true })).data,
  })
  return (
    <LoadedPage query={query} title={name} above={ABOVE}>
      {(table) => <Records key={name} table={table} />}
    </LoadedPage>
  )
}

/** What every row has before the columns of its table. */
const SHARED = new Set(['device_id', 'device_name', 'collected_at'])

function Records({ table }: { readonly table: ReportingTable }) {
  const { name } = table
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList<TableRecord>(
    ['reporting_tables', name, 'records'],
    (page) => getReportingTablesByNameTableRecords({ ...page, path: { name } }),
    query,
  )
  const columns = useMemo(() => toColumns(table), [table])
  const fields = useMemo(() => table.searchable_fields.map(toField), [table])
  return (
    <Page
      title={name}
      above={ABOVE}
      lead={
        <>
          {table.description}{' '}
          <Anchor href={table.documentation_url} target="_blank" rel="noreferrer" inherit>
            {texts.documentation}
          </Anchor>
        </>
      }
      isFilling
      actions={
        <Button
          variant="default"
          leftSection={<PencilIcon size={14} />}
          onClick={() =>
            void navigate({ to: '/reports/new', search: { sql: `select * from ${name}` } })
          }
        >
          {texts.ask}
        </Button>
      }
    >
      <DataTable
        name={name}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        toolbar={
          <SearchBar fields={fields} value={query} fault={list.searchFault} onChange={search} />
        }
        empty={
          <EmptyState icon={TableIcon} title={texts.noRecords}>
            {texts.noRecordsHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}

/** Only the first columns are named by the table's own answer; they are few enough to be shown all. */
function toColumns(table: ReportingTable): Column<TableRecord>[] {
  const own = table.column_names.filter((column) => !SHARED.has(column))
  return [
    {
      id: 'device',
      header: texts.device,
      narrow: true,
      width: 'minmax(150px, 1.2fr)',
      cell: ({ device_id: id, device_name: name }) => (
        <RecordLink kind="device" id={id}>
          {name}
        </RecordLink>
      ),
    },
    ...own.map((column, index): Column<TableRecord> => ({
      id: column,
      header: column,
      narrow: index === 0,
      width: 'minmax(90px, 1fr)',
      cell: (record) => {
        const value = record[column]
        return typeof value === 'string' ? value : JSON.stringify(value)
      },
    })),
    {
      id: 'collected',
      header: texts.collected,
      width: '110px',
      cell: ({ collected_at: at }) => <Time at={at} />,
    },
  ]
}

function toField(name: string): SearchField {
  if (name === 'collected_at') return { name, type: 'timestamp', operators: ['>', '<'] }
  return { name, type: name === 'device_id' ? 'id' : 'text', operators: [':', '~'] }
}
