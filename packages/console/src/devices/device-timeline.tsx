/* What led to the present state: issues that began and ended, and sign-ins, the newest first. */
import { Skeleton, Text } from '@mantine/core'
import {
  BlockedIcon,
  CheckIcon,
  DotFillIcon,
  SignInIcon,
  XIcon,
  type Icon,
} from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { getAuthLogs, getIssues } from '../api/generated/sdk.gen.ts'
import type { AuthLog, Device, Issue } from '../api/generated/types.gen.ts'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import type { Tone } from '../kit/tone.tsx'
import classes from './device-page.module.css'
import { texts } from './texts.ts'

const SHOWN_MAX = 30

interface Moment {
  readonly at: string
  readonly text: string
  readonly tone: Tone
  readonly icon: Icon
}

export function DeviceTimeline({ device }: { readonly device: Device }) {
  const { id } = device
  const { data, error, refetch } = useQuery({
    queryKey: ['devices', id, 'timeline'],
    queryFn: async ({ signal }) => {
      const query = { query: `device_id:${id}`, per_page: 100, order: 'desc' } as const
      const [issues, signIns] = await Promise.all([
        getIssues({ query, signal, throwOnError: true }),
        getAuthLogs({ query, signal, throwOnError: true }),
      ])
      return { issues: issues.data.data, signIns: signIns.data.data }
    },
  })
  if (error !== null && data === undefined) {
    return <ErrorState error={error} onRetry={() => void refetch()} />
  }
  if (data === undefined) return <Skeleton height={120} />
  const moments = [
    ...data.issues.flatMap(momentsOfIssue),
    ...data.signIns.map(momentOfSignIn),
    ...(device.registered_at === null ? [] : [momentOfRegistration(device.registered_at)]),
  ]
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN_MAX)
  if (moments.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {texts.noTimeline}
      </Text>
    )
  }
  return (
    <ol className={classes.timeline}>
      {moments.map(({ at, text, tone, icon: Shape }, index) => (
        <li key={index} className={classes.moment}>
          <span className={classes.mark} data-tone={tone}>
            <Shape size={15} />
          </span>
          <span>{text}</span>
          <Time at={at} />
        </li>
      ))}
    </ol>
  )
}

function momentsOfIssue(issue: Issue): Moment[] {
  const { title, detected_at: began, resolved_at: ended, blocks_device_at: blocks } = issue
  const moments: Moment[] = [{ at: began, text: texts.began(title), tone: 'warn', icon: XIcon }]
  const hasBlocked = blocks !== null && Date.parse(blocks) <= Date.now()
  if (hasBlocked && blocks > began && (ended === null || blocks < ended)) {
    moments.push({ at: blocks, text: texts.blocksFrom(title), tone: 'bad', icon: BlockedIcon })
  }
  if (ended !== null) {
    moments.push({ at: ended, text: texts.resolved(title), tone: 'good', icon: CheckIcon })
  }
  return moments
}

function momentOfSignIn({ timestamp: at, person_name: name, result }: AuthLog): Moment {
  if (result === 'Success') {
    return { at, text: texts.signedIn(name), tone: 'notified', icon: SignInIcon }
  }
  return result === 'Fail'
    ? { at, text: texts.signInStopped(name), tone: 'bad', icon: BlockedIcon }
    : { at, text: texts.signInOpen(name), tone: 'unknown', icon: SignInIcon }
}

function momentOfRegistration(at: string): Moment {
  return { at, text: texts.registeredAt, tone: 'unknown', icon: DotFillIcon }
}
