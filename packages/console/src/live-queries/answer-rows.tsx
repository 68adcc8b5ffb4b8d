/* The rows of all devices in one table, growing as devices answer. */
import { Button } from '@mantine/core'
import { DownloadIcon, TableIcon } from '@primer/octicons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { getLiveQueryCampaignsByIdQueryResults } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign, LiveQueryResult } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { listColumns, RowsTable, type AnswerRow } from '../kit/rows-table.tsx'
import { saveFile } from '../kit/save-file.ts'
import { EmptyState, ErrorState, StaleList } from '../kit/states.tsx'
import { showFailure } from '../kit/use-action.ts'
import { PAGE_SIZE, useList } from '../kit/use-list.ts'
import { toAnswersCsv } from './answers-csv.ts'
import { countAnswered } from './campaign-state.tsx'
import classes from './live-queries.module.css'
import { texts } from './texts.ts'

/** Members of a row that say whose it is; osquery's columns begin with no sign. */
const DEVICE_ID = '\u0000id'
const DEVICE_NAME = '\u0000name'

export function AnswerRows({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const { id } = campaign
  const { revision } = campaign
  const list = useList<LiveQueryResult>(['live_query_campaigns', id, 'results', revision], (page) =>
    getLiveQueryCampaignsByIdQueryResults({ ...page, path: { id } }),
  )
  // Each answer that is counted has its rows in the list: what has been read of it is read again.
  const queryClient = useQueryClient()
  const answered = countAnswered(campaign)
  const seen = useRef(answered)
  useEffect(() => {
    if (seen.current === answered) return
    seen.current = answered
    const queryKey = ['live_query_campaigns', id, 'results', revision] as const
    void queryClient.invalidateQueries({ queryKey })
  }, [answered, id, revision, queryClient])
  const rows = useMemo(() => list.items.flatMap(toRows), [list.items])
  const columns = useMemo(() => listColumns(list.items.flatMap(({ results }) => results)), [list])
  if (list.error !== null && list.items.length === 0) {
    return <ErrorState error={list.error} onRetry={list.retry} />
  }
  const devices = new Set(rows.map((row) => row[DEVICE_ID])).size
  return (
    <Section
      title={texts.tabs.rows}
      lead={rows.length === 0 ? undefined : texts.rowsOf(rows.length, devices)}
      actions={rows.length === 0 ? null : <ExportButton campaign={campaign} />}
      isFlush
    >
      <StaleList list={list} />
      {rows.length === 0 ? (
        <EmptyState icon={TableIcon} title={texts.noRows}>
          {emptyText(campaign)}
        </EmptyState>
      ) : (
        <RowsTable
          name={texts.tabs.rows}
          rows={rows}
          columns={columns}
          lead={{
            header: texts.device,
            cell: (row) => (
              <RecordLink kind="device" id={String(row[DEVICE_ID])}>
                {String(row[DEVICE_NAME])}
              </RecordLink>
            ),
          }}
        />
      )}
      {list.hasMore ? (
        <div className={classes.answerHead}>
          <Button variant="subtle" size="xs" loading={list.isLoadingMore} onClick={list.loadMore}>
            {texts.moreAnswers}
          </Button>
        </div>
      ) : null}
    </Section>
  )
}

function toRows(result: LiveQueryResult): AnswerRow[] {
  return result.results.map((row) => ({
    ...row,
    [DEVICE_ID]: result.device_information.identifier,
    [DEVICE_NAME]: result.device_name,
  }))
}

function emptyText(campaign: LiveQueryCampaign): string {
  if (campaign.asked_at === null) return texts.noRowsDraft
  return campaign.waiting_devices_count > 0 ? texts.noRowsWaiting : texts.noRowsDone
}

/** Every answer, also those that the page has not read yet. */
function ExportButton({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const [isGathering, setGathering] = useState(false)
  const save = async () => {
    setGathering(true)
    try {
      const results = await readAll(campaign.id)
      saveFile(
        new Blob([toAnswersCsv(results)], { type: 'text/csv;charset=utf-8' }),
        `${campaign.name}.csv`,
      )
    } catch (error) {
      showFailure(error)
    } finally {
      setGathering(false)
    }
  }
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<DownloadIcon size={14} />}
      loading={isGathering}
      onClick={() => void save()}
    >
      {texts.export}
    </Button>
  )
}

async function readAll(id: string): Promise<LiveQueryResult[]> {
  const results: LiveQueryResult[] = []
  let cursor = ''
  do {
    const query = { per_page: PAGE_SIZE, ...(cursor === '' ? {} : { cursor }) }
    const page = { path: { id }, query, throwOnError: true } as const
    const { data } = await getLiveQueryCampaignsByIdQueryResults(page)
    results.push(...data.data)
    cursor = data.pagination.next_cursor
  } while (cursor !== '')
  return results
}
