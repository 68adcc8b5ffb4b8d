/* What a stream would get if a device changed now. */
import { Button, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { postSsfStreamsByIdExplain } from '../api/generated/sdk.gen.ts'
import type { EventExplanation } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import type { Choice } from '../kit/record-picker.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { DevicePicker } from '../devices/device-picker.tsx'
import { tabTexts } from './tab-texts.ts'

const { explainTab: words } = tabTexts
type Word = keyof typeof words.words

export function ExplainTab({ id }: { readonly id: string }) {
  const [device, setDevice] = useState<Choice | null>(null)
  const [to, setTo] = useState<Word>('not-compliant')
  const [sends, setSends] = useState(false)
  const explain = useAction({
    run: async (deviceId: string) =>
      (
        await postSsfStreamsByIdExplain({
          path: { id },
          body: { device_id: deviceId, to, send: sends },
          throwOnError: true,
        })
      ).data,
    changes: sends ? [['ssf_streams', id], ['deliveries']] : [],
    showsFailure: true,
  })
  return (
    <Section
      title={words.title}
      lead={`${words.lead} ${sends ? words.sendsTest : words.sendsNothing}`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (device !== null) explain.mutate(device.value)
        }}
      >
        <Stack>
          <Group align="flex-end">
            <DevicePicker value={device} onChange={setDevice} />
            <div>
              <Text size="sm" fw={500} mb={4} id="explain-to">
                {words.to}
              </Text>
              <SegmentedControl
                aria-labelledby="explain-to"
                data={Object.entries(words.words).map(([value, label]) => ({ value, label }))}
                value={to}
                onChange={(next) => setTo(next as Word)}
              />
            </div>
            <Button type="submit" disabled={device === null} loading={explain.isPending}>
              {words.explain}
            </Button>
          </Group>
          <Checkbox
            label={words.alsoSend}
            checked={sends}
            onChange={(event) => setSends(event.currentTarget.checked)}
          />
          <Fault error={explain.error} />
          {explain.data === undefined ? null : <Explanation streamId={id} answer={explain.data} />}
        </Stack>
      </form>
    </Section>
  )
}

interface ExplanationProps {
  readonly streamId: string
  readonly answer: EventExplanation
}

function Explanation({ streamId, answer }: ExplanationProps) {
  const { outcome, rule, reason, due_at: due, claims, test_event_id: testId } = answer
  return (
    <Stack gap="sm" role="status">
      <div>
        <StateBadge tone={TONES[outcome]}>{words.outcomes[outcome]}</StateBadge>
      </div>
      {rule === null && reason === null ? null : (
        <Text size="sm">{reason ?? (rule === null ? '' : words.rules[rule])}</Text>
      )}
      {due === null ? null : (
        <Text size="sm">
          {words.due} <Time at={due} />
        </Text>
      )}
      {testId === null ? null : (
        <Text size="sm">
          {words.testEvent}{' '}
          <Link
            to="/signals/deliveries/$kind/$ownerId/$eventId"
            params={{ kind: 'streams', ownerId: streamId, eventId: testId }}
          >
            {testId}
          </Link>
        </Text>
      )}
      {claims === null ? null : <CodeBlock name={words.claims} value={claims} />}
    </Stack>
  )
}

const TONES = { sent: 'good', held: 'warn', delayed: 'warn', stopped: 'unknown' } as const
