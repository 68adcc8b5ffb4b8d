import { Button, Group, Loader, Select, Stack } from '@mantine/core'
import { PlayIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  getDevices,
  getLiveQueryCampaignsByIdQueryResults,
  postLiveQueryCampaigns,
} from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { Fault } from '../../kit/confirm.tsx'
import { Section } from '../../kit/page.tsx'
import { RowTable, type AnsweredRow } from '../../kit/row-table.tsx'
import { StateBadge } from '../../kit/tone.tsx'
import { useAction } from '../../kit/use-action.ts'
import { useList } from '../../kit/use-list.ts'
import { useMay } from '../../shell/session.ts'
import { texts } from './texts.ts'

const POLL_MS = 1_500

/** Puts the saved query to one device, and says what the verdict would be. */
export function DraftTrial({ draft }: { readonly draft: CustomCheckDraft }) {
  const may = useMay('Create Live Query')
  const { items } = useList(['devices', 'list'], (page) => getDevices(page))
  const [deviceId, setDeviceId] = useState<string | null>(null)
  const [campaignId, setCampaignId] = useState<string>()
  const run = useAction({
    run: async () => {
      const { data } = await postLiveQueryCampaigns({
        body: {
          name: texts.campaign(draft.name),
          sql: draft.osquery_sql,
          targeted_device_ids: deviceId === null ? [] : [deviceId],
        },
        throwOnError: true,
      })
      return data
    },
    changes: [['live_queries']],
    onDone: ({ id }) => setCampaignId(String(id)),
  })
  return (
    <Section title={texts.run} lead={may ? texts.runLead : texts.mayNotRun}>
      <Stack gap="md">
        <Group align="flex-end" gap="xs">
          <Select
            flex={1}
            label={texts.device}
            placeholder={texts.devicePlaceholder}
            searchable
            disabled={!may}
            data={items.map(({ id, name }) => ({ value: id, label: name }))}
            value={deviceId}
            onChange={setDeviceId}
          />
          <Button
            leftSection={<PlayIcon />}
            disabled={!may || deviceId === null || draft.osquery_sql === ''}
            loading={run.isPending}
            onClick={() => run.mutate()}
          >
            {texts.runButton}
          </Button>
        </Group>
        {campaignId === undefined ? null : <Answer campaignId={campaignId} />}
      </Stack>
    </Section>
  )
}

function Answer({ campaignId }: { readonly campaignId: string }) {
  const { data } = useQuery({
    queryKey: ['live_queries', campaignId, 'trial'],
    queryFn: async ({ signal }) => {
      const { data: page } = await getLiveQueryCampaignsByIdQueryResults({
        path: { id: campaignId },
        query: { per_page: 100 },
        signal,
        throwOnError: true,
      })
      return page.data
    },
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? false : POLL_MS),
  })
  const [result] = data ?? []
  if (result === undefined) {
    return (
      <Group gap="xs">
        <Loader size={14} />
        {texts.waiting}
      </Group>
    )
  }
  const { results: rows, error_message: error } = result
  if (error !== null) return <Fault error={new Error(error)} />
  return (
    <Stack gap="sm">
      <Verdict rows={rows} />
      {rows.length === 0 ? (
        texts.noRows
      ) : (
        <RowTable name={texts.answer} rows={rows} first={['KOLIDE_CHECK_STATUS']} />
      )}
    </Stack>
  )
}

function Verdict({ rows }: { readonly rows: readonly AnsweredRow[] }) {
  const verdicts = rows.map((row) => row['KOLIDE_CHECK_STATUS'])
  if (verdicts.includes('FAIL')) return <StateBadge tone="bad">{texts.fails}</StateBadge>
  if (verdicts.includes('PASS')) return <StateBadge tone="good">{texts.passes}</StateBadge>
  return <StateBadge tone="unknown">{texts.noVerdict}</StateBadge>
}
