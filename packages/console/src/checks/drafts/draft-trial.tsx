import { Button, Group, Loader, Stack } from '@mantine/core'
import { PlayIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  getCustomCheckDraftsByIdRunsByCampaignId,
  postCustomCheckDraftsByIdRuns,
} from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft, DraftVerdict } from '../../api/generated/types.gen.ts'
import { DevicePicker } from '../../devices/device-picker.tsx'
import { Fault } from '../../kit/confirm.tsx'
import { Section } from '../../kit/page.tsx'
import type { Choice } from '../../kit/record-picker.tsx'
import { RowTable } from '../../kit/row-table.tsx'
import { StateBadge, type Tone } from '../../kit/tone.tsx'
import { useAction } from '../../kit/use-action.ts'
import { useMay } from '../../shell/session.ts'
import { texts } from './texts.ts'

const POLL_MS = 1_500

const TONES: Readonly<Record<DraftVerdict['status'], Tone>> = {
  passing: 'good',
  failing: 'bad',
  errored: 'warn',
  unknown: 'unknown',
  inapplicable: 'unknown',
}

/** Puts the saved query to one device, and says what the verdict would be. */
export function DraftTrial({ draft }: { readonly draft: CustomCheckDraft }) {
  const may = useMay('Create Live Query')
  const [device, setDevice] = useState<Choice | null>(null)
  const [campaignId, setCampaignId] = useState<string>()
  const run = useAction({
    run: async () => {
      const { data } = await postCustomCheckDraftsByIdRuns({
        path: { id: draft.id },
        body: { device_id: device?.value ?? '' },
        throwOnError: true,
      })
      return data
    },
    changes: [['live_query_campaigns']],
    onDone: ({ live_query_campaign_id: id }) => setCampaignId(id),
  })
  const lead = draft.osquery_sql === '' ? texts.runUnsaved : texts.runLead
  return (
    <Section title={texts.run} lead={may ? lead : texts.mayNotRun}>
      <Stack gap="md">
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <DevicePicker value={device} onChange={setDevice} isDisabled={!may} />
          <Button
            flex="none"
            leftSection={<PlayIcon />}
            disabled={!may || device === null || draft.osquery_sql === ''}
            loading={run.isPending}
            onClick={() => run.mutate()}
          >
            {texts.runButton}
          </Button>
        </Group>
        {campaignId === undefined ? null : <Answer draftId={draft.id} campaignId={campaignId} />}
      </Stack>
    </Section>
  )
}

interface AnswerProps {
  readonly draftId: string
  readonly campaignId: string
}

function Answer({ draftId, campaignId }: AnswerProps) {
  const { data: run, error } = useQuery({
    queryKey: ['live_query_campaigns', campaignId, 'trial'],
    queryFn: async ({ signal }) =>
      (
        await getCustomCheckDraftsByIdRunsByCampaignId({
          path: { id: draftId, campaign_id: campaignId },
          signal,
          throwOnError: true,
        })
      ).data,
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.state === 'waiting' ? POLL_MS : false,
  })
  if (run === undefined && error !== null) return <Fault error={error} />
  if (run === undefined || run.state === 'waiting') {
    return (
      <Group gap="xs" role="status">
        <Loader size={14} />
        {texts.waiting}
      </Group>
    )
  }
  return (
    <Stack gap="sm">
      {run.error_message === null ? null : <Fault error={new Error(run.error_message)} />}
      {run.verdict === null ? null : <Verdict verdict={run.verdict} />}
      {run.warning_message}
      {run.rows.length === 0 ? (
        texts.noRows
      ) : (
        <RowTable name={texts.answer} rows={run.rows} first={['KOLIDE_CHECK_STATUS']} />
      )}
    </Stack>
  )
}

function Verdict({ verdict }: { readonly verdict: DraftVerdict }) {
  return (
    <div>
      <StateBadge tone={TONES[verdict.status]}>{texts.verdicts[verdict.status]}</StateBadge>{' '}
      {verdict.error_message ?? texts.opens(verdict.issues_count)}
    </div>
  )
}
