/* Why a device is in its state: each open issue with what it does, and what would change the state. */
import { List, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { DeviceStatusExplanation } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import classes from './device-page.module.css'
import { explanationQuery } from './device-queries.ts'
import { texts } from './texts.ts'

type ExplainedIssue = DeviceStatusExplanation['issues'][number]

const TONES: Readonly<Record<ExplainedIssue['effect'], Tone>> = {
  decides: 'bad',
  counts: 'warn',
  exempted: 'good',
  reports: 'unknown',
}

const COLUMNS: readonly Column<ExplainedIssue>[] = [
  {
    id: 'issue',
    header: texts.issue,
    narrow: true,
    cell: ({ issue_id: id, issue_title: title }) => (
      <RecordLink kind="issue" id={id}>
        {title}
      </RecordLink>
    ),
  },
  {
    id: 'effect',
    header: texts.effect,
    narrow: true,
    cell: ({ effect }) => (
      <StateBadge tone={TONES[effect]} isPlain>
        {texts.effects[effect]}
      </StateBadge>
    ),
  },
  {
    id: 'check',
    header: texts.check,
    cell: ({ check_id: id, check_name: name }) => (
      <RecordLink kind="check" id={id}>
        {name}
      </RecordLink>
    ),
  },
  {
    id: 'since',
    header: texts.since,
    cell: ({ detected_at: at }) => <Time at={at} />,
  },
  {
    id: 'blocks',
    header: texts.blocks,
    cell: ({ blocks_device_at: at, exemption_expires_at: until }) =>
      until === null ? (
        <Time at={at} absent={texts.doesNotBlock} />
      ) : (
        <>
          {texts.exemptedUntil} <Time at={until} />
        </>
      ),
  },
]

export function DeviceWhy({ deviceId }: { readonly deviceId: string }) {
  const { data, error, isPending, refetch } = useQuery(explanationQuery(deviceId))
  const remedies = data?.what_changes_it ?? []
  return (
    <Section title={texts.issues} isFlush>
      <ShortTable
        name={texts.issues}
        columns={COLUMNS}
        list={{
          items: data?.issues ?? [],
          isLoading: isPending,
          isStale: false,
          isLoadingMore: false,
          hasMore: false,
          error,
          look: () => undefined,
          loadMore: () => undefined,
          retry: () => void refetch(),
        }}
        rowId={({ issue_id: id }) => id}
        empty={data?.evaluated === false ? texts.notEvaluated : texts.noIssues}
      />
      {remedies.length === 0 ? null : (
        <div className={classes.remedies}>
          <Text size="sm" fw={600} mb={4}>
            {texts.whatChangesIt}
          </Text>
          <List size="sm" spacing={2}>
            {remedies.map((remedy) => (
              <List.Item key={remedy}>{remedy}</List.Item>
            ))}
          </List>
        </div>
      )}
    </Section>
  )
}

/** What is so and why, in one sentence, since when, and what time alone will change. */
export function WhySentence({ deviceId }: { readonly deviceId: string }) {
  const { data, error, refetch } = useQuery(explanationQuery(deviceId))
  if (data === undefined) {
    return error === null ? (
      <Skeleton height={16} width={420} maw="100%" mt={4} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    )
  }
  const { sentence, since, failing_since: failing, will_block_at: blocks, next_change: next } = data
  const why = texts.why
  return (
    <span>
      {sentence}
      {failing === null ? null : (
        <>
          {' '}
          {why.failingSince} <Time at={failing} isExact />.
        </>
      )}
      {blocks === null ? null : (
        <>
          {' '}
          {why.blocksIn} <Time at={blocks} />.
        </>
      )}
      {next === null || blocks !== null ? null : (
        <>
          {' '}
          {why.becomes(next.auth_state)} <Time at={next.at} />.
        </>
      )}
      {since === null || failing !== null ? null : (
        <>
          {' '}
          {why.since} <Time at={since} />.
        </>
      )}
    </span>
  )
}
