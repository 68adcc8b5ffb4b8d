/* The tables that devices report. */
import { TableIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getReportingTables } from '../api/generated/sdk.gen.ts'
import type { ReportingTable } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { useList } from '../kit/use-list.ts'
import { ReportTabs } from './report-tabs.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<ReportingTable>[] = [
  {
    id: 'name',
    header: texts.table,
    narrow: true,
    width: 'minmax(140px, 200px)',
    cell: ({ name }) => (
      <Link to="/reports/tables/$name" params={{ name }}>
        {name}
      </Link>
    ),
  },
  { id: 'category', header: texts.category, width: '110px', cell: ({ category }) => category },
  {
    id: 'description',
    header: texts.description,
    narrow: true,
    cell: ({ description }) => description,
  },
  {
    id: 'columns',
    header: texts.columns,
    width: 'minmax(200px, 1.6fr)',
    cell: ({ column_names: names }) => names.slice(3).join(', '),
  },
]

export function TablesPage() {
  const navigate = useNavigate()
  const list = useList(['reporting_tables', 'list', 'tables'], (page) => getReportingTables(page))
  return (
    <Page title={texts.title} lead={texts.lead} isFilling>
      <ReportTabs current="/reports/tables" />
      <DataTable
        name={texts.tables}
        columns={COLUMNS}
        list={list}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: '/reports/tables/$name', params: { name } })}
        empty={
          <EmptyState icon={TableIcon} title={texts.noTables}>
            {texts.noTablesHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
