/* Saved queries over what devices reported. */
import { TableIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getReportingQueries } from '../api/generated/sdk.gen.ts'
import type { ReportQuery } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { ReportTabs } from './report-tabs.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<ReportQuery>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    cell: ({ id, name }) => (
      <Link to="/reports/$id" params={{ id: String(id) }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'rows',
    header: texts.rows,
    narrow: true,
    width: '120px',
    cell: ({ result_count: rows, error }) =>
      error === undefined ? (
        rows
      ) : (
        <StateBadge tone="bad" isPlain>
          {texts.failed}
        </StateBadge>
      ),
  },
  {
    id: 'sql',
    header: texts.sql,
    width: 'minmax(200px, 2.4fr)',
    cell: ({ osquery_sql: sql }) => <code>{sql.replaceAll(/\s+/g, ' ')}</code>,
  },
  {
    id: 'created',
    header: texts.created,
    width: '120px',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

export function ReportsPage() {
  const navigate = useNavigate()
  const may = useMay('Manage Reporting')
  const list = useList(['reporting_queries', 'list'], ({ query, ...page }) =>
    getReportingQueries({ ...page, query: { ...query, omit_results: 'true' } }),
  )
  const create = (
    <CreateButton
      may={may}
      refusal={texts.permission}
      onClick={() => void navigate({ to: '/reports/new' })}
    >
      {texts.create}
    </CreateButton>
  )
  return (
    <Page title={texts.title} lead={texts.lead} isFilling actions={create}>
      <ReportTabs current="/reports" />
      <DataTable
        name={texts.queries}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => String(id)}
        onOpen={({ id }) => void navigate({ to: '/reports/$id', params: { id: String(id) } })}
        empty={
          <EmptyState icon={TableIcon} title={texts.noQueries}>
            {texts.noQueriesHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
