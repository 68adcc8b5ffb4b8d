/* Tests what the receiver of a stream does with good and bad events. */
import { Button, Text } from '@mantine/core'
import { BeakerIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { postSsfStreamsByIdSelfTest } from '../api/generated/sdk.gen.ts'
import type { SelfTest, SelfTestCase, Stream } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import classes from './self-test-tab.module.css'
import { selfTestQuery, STREAMS_PERMISSION } from './stream-queries.ts'
import { formatDuration } from './format.ts'
import { tabTexts } from './tab-texts.ts'

const { selfTestTab: words } = tabTexts

const TONES: Readonly<Record<SelfTestCase['verdict'], Tone>> = {
  ok: 'good',
  accepted_bad_set: 'bad',
  wrong_error_code: 'warn',
  refused_good_set: 'bad',
  unreachable: 'bad',
  not_run: 'unknown',
}

export function SelfTestTab({ stream }: { readonly stream: Stream }) {
  const { id, delivery_type: type } = stream
  const may = useMay(STREAMS_PERMISSION)
  const query = useQuery(selfTestQuery(id))
  const run = useAction({
    run: () => postSsfStreamsByIdSelfTest({ path: { id }, throwOnError: true }),
    changes: [['ssf_streams', id]],
    showsFailure: true,
  })
  const button = (
    <Button
      leftSection={<BeakerIcon />}
      disabled={!may || type === 'poll'}
      loading={run.isPending}
      onClick={() => run.mutate()}
    >
      {words.run}
    </Button>
  )
  return (
    <Loaded query={query} height={260}>
      {(last) => (
        <Section
          title={words.title}
          lead={type === 'poll' ? words.pollOnly : words.lead}
          actions={last === null ? undefined : button}
        >
          <Fault error={run.error} />
          {last !== null ? (
            <Outcome test={last} />
          ) : type === 'poll' ? null : (
            <EmptyState icon={BeakerIcon} title={words.none} action={button}>
              {words.noneHelp}
            </EmptyState>
          )}
        </Section>
      )}
    </Loaded>
  )
}

function Outcome({ test }: { readonly test: SelfTest }) {
  const wrong = test.cases.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'not_run').length
  return (
    <>
      <div className={classes.sum}>
        {test.finished_at === null ? (
          <StateBadge tone="unknown">{words.running}</StateBadge>
        ) : (
          <StateBadge tone={test.passed ? 'good' : 'bad'}>
            {test.passed ? words.passed : words.failed(wrong)}
          </StateBadge>
        )}
        <Text size="sm" c="dimmed">
          {words.at} <Time at={test.started_at} />
        </Text>
      </div>
      <ol className={classes.cases}>
        {test.cases.map((each) => (
          <li key={each.name}>
            <div className={classes.head}>
              <Text fw={600} size="sm">
                {each.sent}
              </Text>
              <StateBadge tone={TONES[each.verdict]} isPlain>
                {words.verdicts[each.verdict]}
              </StateBadge>
            </div>
            <Text size="xs" c="dimmed">
              {words.expected}: {each.expected}
            </Text>
            <Text size="xs" c="dimmed">
              {words.answer}: {answerOf(each)}
            </Text>
            {each.verdict === 'ok' || each.advice === '' ? null : (
              <Text size="sm" mt={4}>
                {each.advice}
              </Text>
            )}
          </li>
        ))}
      </ol>
    </>
  )
}

function answerOf({ status, error_code: code, duration_ms: ms }: SelfTestCase): string {
  const parts = [
    status === null ? '–' : String(status),
    code,
    ms === null ? null : formatDuration(ms),
  ]
  return parts.filter((part) => part !== null).join(' · ')
}
