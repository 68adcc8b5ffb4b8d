/* What happened to a device and why, the newest first: as the service tells it, page by page. */
import { Button, Skeleton, Text } from '@mantine/core'
import {
  ArrowRightIcon,
  BlockedIcon,
  CheckIcon,
  CommentIcon,
  DotFillIcon,
  SignInIcon,
  TrashIcon,
  XIcon,
  type Icon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { getDevicesByIdTimeline } from '../api/generated/sdk.gen.ts'
import type { DeviceTimelineEntry } from '../api/generated/types.gen.ts'
import { RecordLink } from '../kit/record-link.tsx'
import { ErrorState, StaleList } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import type { Tone } from '../kit/tone.tsx'
import { useList } from '../kit/use-list.ts'
import classes from './device-page.module.css'
import { texts } from './texts.ts'

interface Look {
  readonly tone: Tone
  readonly icon: Icon
}

const BAD: Look = { tone: 'bad', icon: BlockedIcon }
const GOOD: Look = { tone: 'good', icon: CheckIcon }
const FAILS: Look = { tone: 'warn', icon: XIcon }
const ASKED: Look = { tone: 'notified', icon: CommentIcon }
const PLAIN: Look = { tone: 'unknown', icon: DotFillIcon }

const LOOKS: Readonly<Record<DeviceTimelineEntry['kind'], Look>> = {
  status_changed: { tone: 'notified', icon: ArrowRightIcon },
  check_result_changed: PLAIN,
  issue_opened: FAILS,
  issue_resolved: GOOD,
  issue_snoozed: ASKED,
  exemption_requested: ASKED,
  exemption_decided: ASKED,
  registration_requested: ASKED,
  registration_decided: ASKED,
  registered: PLAIN,
  reenrollment_requested: ASKED,
  enrolled: PLAIN,
  deletion_requested: { tone: 'bad', icon: TrashIcon },
  sign_in: { tone: 'notified', icon: SignInIcon },
}

/** How the state looks that something came to. */
const LOOKS_OF_STATES: Readonly<Record<string, Look>> = {
  Good: GOOD,
  Blocked: BAD,
  'Will Block': FAILS,
  failing: FAILS,
  passing: GOOD,
  Fail: BAD,
}

export function DeviceTimeline({ deviceId }: { readonly deviceId: string }) {
  const list = useList<DeviceTimelineEntry>(
    ['devices', deviceId, 'timeline'],
    ({ query, ...page }) =>
      getDevicesByIdTimeline({
        ...page,
        path: { id: deviceId },
        query: { ...query, per_page: SHOWN },
      }),
  )
  if (list.error !== null && list.items.length === 0) {
    return <ErrorState error={list.error} onRetry={list.retry} />
  }
  if (list.isLoading) return <Skeleton height={120} />
  if (list.items.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {texts.noTimeline}
      </Text>
    )
  }
  return (
    <>
      <StaleList list={list} />
      <ol className={classes.timeline}>
        {list.items.map((entry) => (
          <Moment key={`${entry.kind} ${entry.record_id}`} entry={entry} />
        ))}
      </ol>
      {list.hasMore ? (
        <Button variant="subtle" size="xs" loading={list.isLoadingMore} onClick={list.loadMore}>
          {texts.earlier}
        </Button>
      ) : null}
    </>
  )
}

/** Entries of a page. */
const SHOWN = 25

function Moment({ entry }: { readonly entry: DeviceTimelineEntry }) {
  const { kind, to_state: state, occurred_at: at } = entry
  const { tone, icon: Shape } = LOOKS_OF_STATES[state ?? ''] ?? LOOKS[kind]
  return (
    <li className={classes.moment}>
      <span className={classes.mark} data-tone={tone}>
        <Shape size={15} />
      </span>
      <span>
        <Told entry={entry} />
        <Cause entry={entry} />
      </span>
      <Time at={at} />
    </li>
  )
}

/** What happened, as a link to the record that tells of it where that has a page. */
function Told({ entry }: { readonly entry: DeviceTimelineEntry }) {
  const { record_type: type, record_id: id, description } = entry
  if (type === 'issue' || type === 'auth_log') {
    return (
      <RecordLink kind={type === 'issue' ? 'issue' : 'signIn'} id={id}>
        {description}
      </RecordLink>
    )
  }
  const kind = REQUESTS[type]
  if (kind === undefined) return description
  return (
    <Link to="/requests" search={{ kind, open: id, query: '' }}>
      {description}
    </Link>
  )
}

const REQUESTS: Readonly<Record<string, 'exemption' | 'registration' | 'reenrollment'>> = {
  exemption_request: 'exemption',
  registration_request: 'registration',
  reenrollment_request: 'reenrollment',
}

/** Who or what caused it, and where the rest of what it caused is. */
function Cause({ entry }: { readonly entry: DeviceTimelineEntry }) {
  const { actor_name: actor, txn, configured_check_id: check, kind } = entry
  const isTold = actor === null || (kind === 'sign_in' && actor === '')
  if (isTold && check === null && txn === null) return null
  return (
    <span className={classes.cause}>
      {isTold ? null : <span>{texts.by(actor)}</span>}
      {check === null ? null : (
        <RecordLink kind="check" id={`${check}/strategy`}>
          {texts.causedByCheck}
        </RecordLink>
      )}
      {txn === null ? null : (
        <Link to="/signals/find" search={{ query: txn }}>
          {texts.whatItCaused}
        </Link>
      )}
    </span>
  )
}
