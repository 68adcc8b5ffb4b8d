/* What devices answered to a check, with the rows that failed. */
import { Drawer, Stack } from '@mantine/core'
import { ChecklistIcon } from '@primer/octicons-react'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getChecksByIdResults } from '../api/generated/sdk.gen.ts'
import type { CheckResult } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { RowTable } from '../kit/row-table.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { SearchSwitch } from '../kit/search-switch.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { CheckFrame } from './check-frame.tsx'
import { texts } from './texts.ts'

const TONES: Readonly<Record<string, Tone>> = { passing: 'good', failing: 'bad', errored: 'warn' }

const COLUMNS: readonly Column<CheckResult>[] = [
  {
    id: 'device',
    header: texts.device,
    narrow: true,
    width: 'minmax(150px, 1.4fr)',
    cell: ({ device_id: id, device_display_name: name }) => (
      <ListLink to={`/devices/${id}`}>{name}</ListLink>
    ),
  },
  {
    id: 'status',
    header: texts.status,
    narrow: true,
    width: '140px',
    cell: (result) => <ResultState result={result} />,
  },
  {
    id: 'rows',
    header: texts.rows,
    width: '80px',
    cell: ({ check_result_data: rows }) => rows.length,
  },
  {
    id: 'ran',
    header: texts.ran,
    width: '120px',
    cell: ({ ran_at: at }) => <Time at={at} />,
  },
]

const FAILING = 'status:failing'

export function ResultsPage() {
  const { id } = useParams({ from: '/frame/checks/$id/results' })
  return (
    <CheckFrame id={id} tab="results" isFilling>
      {() => <Results id={id} />}
    </CheckFrame>
  )
}

function Results({ id }: { readonly id: string }) {
  const { query, search } = useAddressSearch()
  const [open, setOpen] = useState<CheckResult>()
  const list = useList(
    ['checks', id, 'results'],
    (page) => getChecksByIdResults({ ...page, path: { id } }),
    query,
  )
  return (
    <>
      <DataTable
        name={texts.tabs.results}
        columns={COLUMNS}
        list={list}
        rowId={(result) => result.id}
        onOpen={setOpen}
        toolbar={
          <SearchBar
            path="/checks/{id}/results"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        actions={
          <SearchSwitch
            name={texts.which}
            all={texts.all}
            part={texts.failing}
            clause={FAILING}
            query={query}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={ChecklistIcon} title={texts.noResults}>
            {texts.noResultsHelp}
          </EmptyState>
        }
      />
      <Drawer
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        position="right"
        size={560}
        title={open?.device_display_name}
      >
        {open === undefined ? null : (
          <Stack gap="md">
            <div>
              <ResultState result={open} /> <Time at={open.ran_at} />
            </div>
            {open.check_result_data.length === 0 ? (
              texts.noRows
            ) : (
              <RowTable
                name={texts.resultRows}
                rows={open.check_result_data}
                first={['KOLIDE_CHECK_STATUS']}
              />
            )}
          </Stack>
        )}
      </Drawer>
    </>
  )
}

function ResultState({ result: { status } }: { readonly result: CheckResult }) {
  return (
    <StateBadge tone={TONES[status] ?? 'unknown'} isPlain>
      {texts.statuses[status]}
    </StateBadge>
  )
}
