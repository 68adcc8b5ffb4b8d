/* How a stream is doing: what waits, what is dead, how long deliveries take, and what failed last. */
import { Anchor, SimpleGrid } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { postSsfStreamsByIdRedrive } from '../api/generated/sdk.gen.ts'
import type { Stream, StreamHealth } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { formatCount, formatDuration } from './format.ts'
import classes from './overview-tab.module.css'
import { texts } from './texts.ts'

const { page } = texts

interface HealthOfStreamProps {
  readonly stream: Stream
  readonly health: StreamHealth
  /** Opens another tab of the stream. */
  readonly onOpen: (tab: string) => void
}

export function HealthOfStream({ stream, health, onOpen }: HealthOfStreamProps) {
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <Figure
          name={page.queue}
          value={formatCount(health.queue)}
          note={
            health.queue.oldest_queued_at === null ? undefined : (
              <>
                {page.oldest} <Time at={health.queue.oldest_queued_at} />
              </>
            )
          }
        />
        <Figure
          name={page.dead}
          value={formatCount(health.dead_letters)}
          isBad={health.dead_letters.count > 0}
          note={
            health.dead_letters.count === 0 ? undefined : (
              <>
                <Anchor size="xs" component="button" onClick={() => onOpen('deliveries')}>
                  {page.seeDead}
                </Anchor>
                {' · '}
                <Redrive id={stream.id} />
              </>
            )
          }
        />
        <Latency name={page.lastHour} times={health.last_hour} />
        <Latency name={page.lastDay} times={health.last_day} />
      </SimpleGrid>
      <Section title={page.health} lead={page.healthLead}>
        <Facts facts={factsOf(stream, health)} />
      </Section>
    </>
  )
}

/** Nothing is tried where the receiver fetches its events. */
function factsOf(stream: Stream, health: StreamHealth): readonly (readonly [string, ReactNode])[] {
  const heartbeat =
    health.heartbeat_minutes === null ? page.never : page.everyMinutes(health.heartbeat_minutes)
  return [
    [page.lastSuccess, <Time key="s" at={health.last_success_at} />],
    [page.lastFailure, <Failure key="f" health={health} />],
    ...(health.failing_since === null
      ? []
      : [[page.failingSince, <Time key="fs" at={health.failing_since} />] as const]),
    ...(stream.delivery_type === 'poll' ? [] : triesOf(health)),
    [page.heartbeat, heartbeat],
  ]
}

function triesOf(health: StreamHealth): readonly (readonly [string, ReactNode])[] {
  return [
    [page.circuit, page.circuits[health.circuit]],
    ...(health.next_probe_at === null
      ? []
      : [[page.probe, <Time key="p" at={health.next_probe_at} />] as const]),
    [page.nextAttempt, <Time key="n" at={health.queue.next_attempt_at} absent="–" />],
  ]
}

function Failure({ health }: { readonly health: StreamHealth }) {
  return (
    <>
      <Time at={health.last_failure_at} />
      {health.last_failure === null ? null : (
        <div className={classes.note}>{health.last_failure}</div>
      )}
    </>
  )
}

interface LatencyProps {
  readonly name: string
  readonly times: StreamHealth['last_hour']
}

function Latency({ name, times }: LatencyProps) {
  const { p50_ms: median, p99_ms: slowest } = times
  return (
    <Figure
      name={`${page.delivered}, ${name.toLowerCase()}`}
      value={formatCount(times)}
      note={
        median === null || slowest === null
          ? page.noDeliveries
          : `${page.median} ${formatDuration(median)} · ${page.slowest} ${formatDuration(slowest)}`
      }
    />
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly note?: ReactNode
  readonly isBad?: boolean
}

function Figure({ name, value, note, isBad = false }: FigureProps) {
  return (
    <div className={classes.figure} data-bad={isBad ? '' : undefined}>
      <div className={classes.name}>{name}</div>
      <div className={classes.value}>{value}</div>
      <div className={classes.note}>{note ?? ' '}</div>
    </div>
  )
}

function Redrive({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Anchor size="xs" component="button" onClick={() => setOpen(true)}>
        {page.redrive}
      </Anchor>
      <ActionDialog
        isOpen={isOpen}
        title={page.redriveTitle}
        label={page.redriveLabel}
        run={async () =>
          (await postSsfStreamsByIdRedrive({ path: { id }, body: {}, throwOnError: true })).data
        }
        done={({ count, has_more: hasMore }) =>
          page.redriven(formatCount({ count, exact: !hasMore }))
        }
        changes={[['ssf_streams', id], ['deliveries']]}
        onClose={close}
      >
        {page.redriveHelp}
      </ActionDialog>
    </>
  )
}
