/* One saved query and its results. */
import { Alert, Button, Skeleton } from '@mantine/core'
import { DownloadIcon, PencilIcon, TableIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteReportingQueriesById,
  getReportingQueriesById,
  getReportingQueriesByIdResults,
} from '../api/generated/sdk.gen.ts'
import type { ReportQuery, ReportQueryResult } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { ActionDialog } from '../kit/confirm.tsx'
import { toCsv } from '../kit/csv.ts'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page, Section } from '../kit/page.tsx'
import { listColumns, RowsTable } from '../kit/rows-table.tsx'
import { saveFile } from '../kit/save-file.ts'
import { EmptyState, ErrorState, StaleList } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { showFailure } from '../kit/use-action.ts'
import { PAGE_SIZE, useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/reports' }]

export function ReportPage() {
  const { id } = useParams({ from: '/frame/reports/$id' })
  const query = useQuery({
    queryKey: ['reporting_queries', id],
    queryFn: async ({ signal }) => {
      const omitted = { omit_results: 'true' } as const
      const request = { path: { id }, query: omitted, signal, throwOnError: true } as const
      return (await getReportingQueriesById(request)).data
    },
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(report) => <Report report={report} />}
    </LoadedPage>
  )
}

function Report({ report }: { readonly report: ReportQuery }) {
  const id = String(report.id)
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const may = useMay('Manage Reporting')
  const shared = { disabled: !may, title: may ? undefined : texts.permission }
  return (
    <Page
      title={report.name}
      above={ABOVE}
      lead={
        <>
          {report.error === undefined ? `${texts.resultCount(report.result_count)} ` : null}
          {texts.created} <Time at={report.created_at} />.
        </>
      }
      actions={
        <>
          <Button
            {...shared}
            variant="default"
            leftSection={<TrashIcon size={14} />}
            onClick={() => setDeleting(true)}
          >
            {texts.delete}
          </Button>
          <Button
            {...shared}
            variant="default"
            leftSection={<PencilIcon size={14} />}
            onClick={() => void navigate({ to: '/reports/$id/edit', params: { id } })}
          >
            {texts.edit}
          </Button>
        </>
      }
    >
      <Section title={texts.query}>
        <CodeBlock name={texts.sql} value={report.osquery_sql} />
      </Section>
      {report.error === undefined ? (
        <Results id={id} name={report.name} />
      ) : (
        <Alert color="red" title={texts.failed} role="alert">
          {report.error}
        </Alert>
      )}
      <ActionDialog
        isOpen={isDeleting}
        title={texts.deleteTitle(report.name)}
        label={texts.deleteLabel}
        isDanger
        run={() => deleteReportingQueriesById({ path: { id }, throwOnError: true })}
        done={texts.deleted}
        changes={[['reporting_queries', 'list']]}
        onDone={() => void navigate({ to: '/reports' })}
        onClose={() => setDeleting(false)}
      >
        {texts.deleteText}
      </ActionDialog>
    </Page>
  )
}

function Results({ id, name }: { readonly id: string; readonly name: string }) {
  const list = useList<ReportQueryResult>(['reporting_queries', id, 'results'], (page) =>
    getReportingQueriesByIdResults({ ...page, path: { id } }),
  )
  if (list.error !== null && list.items.length === 0) {
    return <ErrorState error={list.error} onRetry={list.retry} />
  }
  const save = async () => {
    try {
      const rows = await readAll(id)
      const csv = toCsv(listColumns(rows), rows)
      saveFile(new Blob([csv], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <Section
      title={texts.results}
      isFlush
      actions={
        list.items.length === 0 ? null : (
          <Button
            variant="default"
            size="xs"
            leftSection={<DownloadIcon size={14} />}
            onClick={() => void save()}
          >
            {texts.export}
          </Button>
        )
      }
    >
      <StaleList list={list} />
      {list.isLoading ? (
        <Skeleton height={120} m="md" />
      ) : list.items.length === 0 ? (
        <EmptyState icon={TableIcon} title={texts.noResults}>
          {texts.noResultsHelp}
        </EmptyState>
      ) : (
        <RowsTable name={texts.results} rows={list.items} />
      )}
      {list.hasMore ? (
        <Button variant="subtle" m="xs" loading={list.isLoadingMore} onClick={list.loadMore}>
          {texts.more}
        </Button>
      ) : null}
    </Section>
  )
}

/** Every row, also those that the page has not read yet. */
async function readAll(id: string): Promise<ReportQueryResult[]> {
  const rows: ReportQueryResult[] = []
  let cursor = ''
  do {
    const query = { per_page: PAGE_SIZE, ...(cursor === '' ? {} : { cursor }) }
    const page = { path: { id }, query, throwOnError: true } as const
    const { data } = await getReportingQueriesByIdResults(page)
    rows.push(...data.data)
    cursor = data.pagination.next_cursor
  } while (cursor !== '')
  return rows
}
