/* What one cause led to, in its order, and who was told nothing. */
import { Text } from '@mantine/core'
import {
  BroadcastIcon,
  DeviceDesktopIcon,
  LogIcon,
  PaperAirplaneIcon,
  SyncIcon,
  type Icon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import type { EventSearch } from '../api/generated/types.gen.ts'
import { DeliveryState } from '../deliveries/delivery-state.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import classes from './event-search.module.css'
import { texts } from './texts.ts'

type Trail = EventSearch['trails'][number]
type Step = Trail['steps'][number]

const ICONS: Readonly<Record<Step['kind'], Icon>> = {
  status: DeviceDesktopIcon,
  audit: LogIcon,
  event: BroadcastIcon,
  delivery: PaperAirplaneIcon,
  attempt: SyncIcon,
}

export function TrailSection({ trail }: { readonly trail: Trail }) {
  return (
    <Section
      title={trail.steps[0]?.summary ?? texts.cause}
      lead={
        <span className={classes.cause}>
          {texts.cause} <Copyable value={trail.txn} />
        </span>
      }
    >
      <ol className={classes.steps}>
        {trail.steps.map((step, index) => (
          <StepItem key={index} step={step} />
        ))}
      </ol>
      {trail.missing.length === 0 ? null : <MissingList missing={trail.missing} />}
    </Section>
  )
}

function StepItem({ step }: { readonly step: Step }) {
  const { kind, at, summary, state, delivery, record } = step
  const Shape = ICONS[kind]
  return (
    <li data-kind={kind}>
      <span className={classes.mark}>
        <Shape size={14} />
      </span>
      <div className={classes.step}>
        <div className={classes.head}>
          <span className={classes.kind}>{texts.kinds[kind]}</span>
          <span className={classes.at}>
            <Time at={at} isExact />
          </span>
        </div>
        <div>{summary}</div>
        <div className={classes.links}>
          {delivery === null ? (
            state === null ? null : (
              <code>{state}</code>
            )
          ) : (
            <>
              <DeliveryState delivery={delivery} isPlain />
              <Link
                to="/signals/deliveries/$kind/$ownerId/$eventId"
                params={{
                  kind: delivery.destination.type === 'webhook' ? 'webhooks' : 'streams',
                  ownerId: delivery.destination.id,
                  eventId: delivery.event_id,
                }}
              >
                {texts.open}
              </Link>
            </>
          )}
          {record === null ? null : <RecordLink record={record} />}
        </div>
      </div>
    </li>
  )
}

/** Where the records of a type have their page. */
const PATHS: Readonly<Record<string, string>> = {
  device: '/devices',
  person: '/people',
  ssf_stream: '/signals/streams',
  webhook: '/signals/webhooks',
  check: '/checks',
  issue: '/issues',
}

function RecordLink({ record: { type, id } }: { readonly record: NonNullable<Step['record']> }) {
  const path = PATHS[type]
  const label = `${type.replaceAll('_', ' ')} ${id}`
  return path === undefined ? (
    <span>{label}</span>
  ) : (
    <Link to={`${path}/${id}` as '/'}>{label}</Link>
  )
}

function MissingList({ missing }: { readonly missing: Trail['missing'] }) {
  return (
    <div className={classes.missing}>
      <Text size="sm" fw={650}>
        {texts.missing}
      </Text>
      <ul>
        {missing.map(({ destination, about, reason }, index) => (
          <li key={index}>
            <StateBadge tone="unknown" isPlain>
              {destination?.name ?? texts.all}
            </StateBadge>
            <span className={classes.about}>{about}</span>
            <div>{reason}</div>
          </li>
        ))}
      </ul>
    </div>
  )
}
