/* How a stream is doing, and how it is set up. */
import { Alert, Anchor, Button, SimpleGrid, Skeleton } from '@mantine/core'
import { AlertIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { postSsfStreamsByIdRedrive } from '../api/generated/sdk.gen.ts'
import type { Stream, StreamHealth } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import classes from './overview-tab.module.css'
import { requestsChanges } from './stream-facts.ts'
import { healthQuery } from './stream-queries.ts'
import { formatCount, formatDuration } from './format.ts'
import { texts } from './texts.ts'

const { page } = texts

interface OverviewTabProps {
  readonly stream: Stream
  readonly onOpen: (tab: string) => void
}

export function OverviewTab({ stream, onOpen }: OverviewTabProps) {
  const { data: health, error, refetch } = useQuery(healthQuery(stream.id))
  return (
    <>
      {stream.fallback === null ? null : (
        <Alert color="yellow" icon={<AlertIcon />} title={page.fallbackTitle}>
          {stream.fallback.reason} <Copyable value={stream.fallback.endpoint_url} />
        </Alert>
      )}
      {error !== null && health === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : health === undefined ? (
        <Skeleton height={220} />
      ) : (
        <Health stream={stream} health={health} onOpen={onOpen} />
      )}
      <Settings stream={stream} />
    </>
  )
}

interface HealthProps extends OverviewTabProps {
  readonly health: StreamHealth
}

function Health({ stream, health, onOpen }: HealthProps) {
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
                <Redrive stream={stream} />
              </>
            )
          }
        />
        <Latency name={page.lastHour} times={health.last_hour} />
        <Latency name={page.lastDay} times={health.last_day} />
      </SimpleGrid>
      <Section title={page.health} lead={page.healthLead}>
        <Facts
          facts={[
            [page.lastSuccess, <Time key="s" at={health.last_success_at} />],
            [page.lastFailure, <Failure key="f" health={health} />],
            ...(health.failing_since === null
              ? []
              : [[page.failingSince, <Time key="fs" at={health.failing_since} />] as const]),
            [page.circuit, page.circuits[health.circuit]],
            ...(health.next_probe_at === null
              ? []
              : [[page.probe, <Time key="p" at={health.next_probe_at} />] as const]),
            [page.nextAttempt, <Time key="n" at={health.queue.next_attempt_at} absent="–" />],
            [
              page.heartbeat,
              health.heartbeat_minutes === null
                ? page.never
                : page.everyMinutes(health.heartbeat_minutes),
            ],
          ]}
        />
      </Section>
    </>
  )
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

function Latency({
  name,
  times,
}: {
  readonly name: string
  readonly times: StreamHealth['last_hour']
}) {
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

function Redrive({ stream }: { readonly stream: Stream }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const redrive = useAction({
    run: async () =>
      (
        await postSsfStreamsByIdRedrive({
          path: { id: stream.id },
          body: {},
          throwOnError: true,
        })
      ).data,
    done: ({ count, has_more: hasMore }) => page.redriven(formatCount({ count, exact: !hasMore })),
    changes: [['ssf_streams', stream.id], ['deliveries']],
    showsFailure: true,
    onDone: close,
  })
  return (
    <>
      <Anchor size="xs" component="button" onClick={() => setOpen(true)}>
        {page.redrive}
      </Anchor>
      <ConfirmDialog
        isOpen={isOpen}
        title={page.redriveTitle}
        label={page.redriveLabel}
        isPending={redrive.isPending}
        error={redrive.error}
        onConfirm={() => redrive.mutate()}
        onClose={close}
      >
        {page.redriveHelp}
      </ConfirmDialog>
    </>
  )
}

function proofOf({ delivery, authorization_header_set: hasHeader }: Stream): string {
  if (delivery.oauth !== undefined && delivery.oauth !== null) return page.proofs.oauth
  if (hasHeader) return page.proofs.header
  if (delivery.mtls !== undefined && delivery.mtls !== null) return page.proofs.mtls
  return page.proofs.none
}

function Settings({ stream }: { readonly stream: Stream }) {
  const yesOrNo = (value: boolean) => (value ? page.yes : page.no)
  return (
    <Section
      title={page.settings}
      actions={
        <Button
          component={Link}
          to={`/signals/streams/${stream.id}/edit`}
          size="compact-sm"
          variant="default"
        >
          {texts.edit}
        </Button>
      }
    >
      <Facts
        facts={[
          [texts.deliveryType, texts.deliveryTypes[stream.delivery_type]],
          [texts.url, stream.delivery.endpoint_url || '–'],
          [texts.specVersion, texts.specVersions[stream.spec_version]],
          [
            texts.eventTypes,
            requestsChanges(stream) ? <code key="t">{texts.eventType}</code> : texts.noEvents,
          ],
          ...(stream.delivery_type === 'push' ? [[page.proof, proofOf(stream)] as const] : []),
          [texts.form.subjectForm, texts.form.subjectForms[stream.subject_form]],
          [page.damping, page.seconds(stream.damping_seconds)],
          [page.sequence, yesOrNo(stream.heliograph_sequence)],
          [page.pairwise, yesOrNo(stream.pairwise_identifiers)],
          [page.streamId, <Copyable key="sid" value={stream.stream_id} />],
          [page.id, <Copyable key="id" value={stream.id} />],
          [page.audience, <Copyable key="a" value={stream.aud} />],
          [page.issuer, <Copyable key="i" value={stream.iss} />],
          [page.created, <Time key="c" at={stream.created_at} />],
        ]}
      />
    </Section>
  )
}
