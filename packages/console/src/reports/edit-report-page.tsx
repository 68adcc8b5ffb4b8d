/* Writes a saved query. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import {
  getReportingQueriesById,
  getReportingTables,
  patchReportingQueriesById,
  postReportingQueries,
} from '../api/generated/sdk.gen.ts'
import type { ReportQuery } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { Fault } from '../kit/confirm.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page, Section } from '../kit/page.tsx'
import { SqlEditor, type SqlTable } from '../kit/sql-editor.tsx'
import { UnsavedWork } from '../kit/unsaved-work.tsx'
import { useAction } from '../kit/use-action.ts'
import { Needs } from '../shell/needs.tsx'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/reports' }]

export function NewReportPage() {
  const { sql = '' } = useSearch({ from: '/frame/reports/new' })
  return (
    <Page title={texts.newTitle} above={ABOVE}>
      <Needs permission="Manage Reporting" />
      <ReportForm initialSql={sql} />
    </Page>
  )
}

export function EditReportPage() {
  const { id } = useParams({ from: '/frame/reports/$id/edit' })
  const query = useQuery({
    queryKey: ['reporting_queries', id, 'definition'],
    queryFn: async ({ signal }) => {
      const omitted = { omit_results: 'true' } as const
      const request = { path: { id }, query: omitted, signal, throwOnError: true } as const
      return (await getReportingQueriesById(request)).data
    },
  })
  return (
    <LoadedPage query={query} title={texts.edit} above={ABOVE}>
      {(report) => (
        <Page title={texts.editTitle(report.name)} above={ABOVE}>
          <Needs permission="Manage Reporting" />
          <ReportForm key={id} report={report} initialSql={report.osquery_sql} />
        </Page>
      )}
    </LoadedPage>
  )
}

interface ReportFormProps {
  /** The query that is edited; a new one when left out. */
  readonly report?: ReportQuery
  readonly initialSql: string
}

function ReportForm({ report, initialSql }: ReportFormProps) {
  const [initial] = useState({ name: report?.name ?? '', sql: initialSql })
  const [name, setName] = useState(initial.name)
  const [sql, setSql] = useState(initial.sql)
  const navigate = useNavigate()
  const may = useMay('Manage Reporting')
  const tables = useReportingTables()
  const save = useAction({
    run: async () => {
      const body = { name, sql }
      const { data } =
        report === undefined
          ? await postReportingQueries({ body, throwOnError: true })
          : await patchReportingQueriesById({
              path: { id: String(report.id) },
              body: changedMembers(body, initial),
              throwOnError: true,
            })
      return data
    },
    done: texts.saved,
    changes: [['reporting_queries']],
    showsFailure: true,
    onDone: ({ id }) => void navigate({ to: '/reports/$id', params: { id: String(id) } }),
  })
  const faults = fieldFaultsOf(save.error)
  const isComplete = name.trim() !== '' && sql.trim() !== ''
  const isChanged = name !== initial.name || sql !== initial.sql
  const submit = () => {
    if (may && isComplete && !save.isPending) save.mutate()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <UnsavedWork isUnsaved={may && isChanged} isPending={save.isPending} />
      <Section title={texts.query}>
        <Stack gap="md">
          <TextInput
            label={texts.name}
            value={name}
            error={faults?.['name']}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            maw={520}
          />
          <SqlEditor
            label={texts.sql}
            description={texts.sqlHelp}
            value={sql}
            onChange={setSql}
            onRun={submit}
            error={faults?.['sql']}
            tables={tables}
            lines={12}
          />
          {faults === null ? <Fault error={save.error} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => void navigate({ to: '/reports' })}>
              {texts.cancel}
            </Button>
            <Button
              type="submit"
              disabled={!may || !isComplete}
              title={may ? undefined : texts.permission}
              loading={save.isPending}
            >
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </Section>
    </form>
  )
}

const NO_TABLES: readonly SqlTable[] = []

/** What the editor completes: the reporting tables in place of osquery's. */
function useReportingTables(): readonly SqlTable[] {
  const { data } = useQuery({
    queryKey: ['reporting_tables', 'list', 'completion'],
    queryFn: async ({ signal }) =>
      (await getReportingTables({ query: { per_page: 100 }, signal, throwOnError: true })).data
        .data,
    staleTime: Infinity,
  })
  return useMemo(
    () =>
      data?.map(({ name, category, column_names: columns }) => ({
        name,
        detail: category,
        columns: columns.map((column) => ({ name: column })),
      })) ?? NO_TABLES,
    [data],
  )
}
