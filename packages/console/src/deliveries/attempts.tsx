/* Every attempt to deliver, the latest first. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { DeliveryAttempt } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import classes from './attempts.module.css'
import { Phases } from './phases.tsx'
import { texts } from './texts.ts'

const { attempt: words } = texts
const TONES = { accepted: 'good', rejected: 'bad', retry: 'warn' } as const

export function Attempts({ attempts }: { readonly attempts: readonly DeliveryAttempt[] }) {
  return (
    <ol className={classes.attempts}>
      {attempts.toReversed().map((attempt, index) => (
        <li key={attempt.number}>
          <Attempt attempt={attempt} isOpen={index === 0 && attempt.outcome !== 'accepted'} />
        </li>
      ))}
    </ol>
  )
}

interface AttemptProps {
  readonly attempt: DeliveryAttempt
  readonly isOpen: boolean
}

function Attempt({ attempt, isOpen }: AttemptProps) {
  const { outcome, status_code: status, error, explanation } = attempt
  return (
    <Stack gap={8}>
      <div className={classes.head}>
        <Text fw={650} size="sm">
          {words.title(attempt.number)}
        </Text>
        <StateBadge tone={TONES[outcome]} isPlain>
          {words.outcomes[outcome]}
        </StateBadge>
        <Text size="sm">{status ?? words.noStatus}</Text>
        <Text size="sm" c="dimmed">
          <Time at={attempt.started_at} isExact />
        </Text>
      </div>
      {error === null ? null : <Text size="sm">{error}</Text>}
      {explanation === null ? null : (
        <Text size="sm" c="dimmed">
          {explanation.cause} {explanation.remedy}
        </Text>
      )}
      <Phases duration={attempt.duration} waitedMs={attempt.waited_ms} />
      <details className={classes.details} open={isOpen}>
        <summary>{words.details}</summary>
        <Exchange attempt={attempt} />
      </details>
    </Stack>
  )
}

function Exchange({ attempt }: { readonly attempt: DeliveryAttempt }) {
  const { request_headers: request, response_headers: response, response_body: body } = attempt
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} mt="xs">
      <Stack gap={4} miw={0}>
        <Text size="xs" c="dimmed">
          {words.request}
          {attempt.remote_address === null ? '' : ` · ${words.to} ${attempt.remote_address}`}
        </Text>
        {request === null ? (
          <Text size="sm">{words.noRequest}</Text>
        ) : (
          <CodeBlock name={words.request} value={toLines(request)} />
        )}
      </Stack>
      <Stack gap={4} miw={0}>
        <Text size="xs" c="dimmed">
          {words.response}
        </Text>
        {response === null ? (
          <Text size="sm">{words.noStatus}</Text>
        ) : (
          <CodeBlock name={words.response} value={toLines(response)} />
        )}
        <Text size="xs" c="dimmed">
          {words.body}
        </Text>
        {body === null || body === '' ? (
          <Text size="sm">{words.noBody}</Text>
        ) : (
          <CodeBlock name={words.body} value={body} />
        )}
      </Stack>
    </SimpleGrid>
  )
}

function toLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
