/* What needs attention now: the first page that anyone sees. Everything on it leads to the list behind it. */
import { Button, Skeleton } from '@mantine/core'
import { DeviceDesktopIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import { getOverview } from '../api/generated/sdk.gen.ts'
import type { Overview } from '../api/generated/types.gen.ts'
import { ListLink } from '../kit/list-link.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState, ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { usePlaces } from '../shell/navigation.ts'
import { BlockingWeek } from './blocking-week.tsx'
import { DeviceStatuses } from './device-statuses.tsx'
import { FailingChecks } from './failing-checks.tsx'
import classes from './now.module.css'
import { SignalHealth } from './signal-health.tsx'
import { StoppedSignIns } from './stopped-sign-ins.tsx'
import { texts } from './texts.ts'
import { WaitingRequests } from './waiting-requests.tsx'

const NOW_PATH = '/'

/** The page says what is so without being asked; reading it costs the service little. */
const REFRESH_MS = 15_000

/** The first place that is open stands in for it where an admin may not see it. */
export function NowPage() {
  const first = usePlaces()[0]?.places[0]?.to ?? NOW_PATH
  return first === NOW_PATH ? <Now /> : <Navigate to={first} replace />
}

function Now() {
  const overview = useQuery({
    queryKey: ['overview'],
    queryFn: async ({ signal }) => {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
      const { data } = await getOverview({
        query: { time_zone: timeZone },
        signal,
        throwOnError: true,
      })
      return data
    },
    refetchInterval: REFRESH_MS,
  })
  const { data } = overview
  if (data === undefined) {
    return (
      <Page title={texts.title}>
        {overview.error === null ? (
          <Loading />
        ) : (
          <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={texts.title}
      lead={<Lead overview={data} />}
      actions={
        <span className={classes.asOf}>
          {texts.asOf} <Time at={data.as_of} />
        </span>
      }
    >
      {data.devices.total === 0 ? (
        <EmptyState
          icon={DeviceDesktopIcon}
          title={texts.noDevices}
          action={
            <Button component={Link} to="/settings/enrollment" mt="xs">
              {texts.addDevice}
            </Button>
          }
        >
          {texts.noDevicesHelp}
        </EmptyState>
      ) : (
        <>
          <DeviceStatuses devices={data.devices} />
          <BlockingWeek days={data.blocking_days} />
        </>
      )}
      <div className={classes.columns}>
        <FailingChecks checks={data.failing_checks} />
        <div className={classes.stack}>
          <WaitingRequests waiting={data.waiting_requests} />
          {data.stopped_sign_ins === null ? null : (
            <StoppedSignIns stopped={data.stopped_sign_ins} />
          )}
          {data.streams === null && data.webhooks === null ? null : (
            <SignalHealth streams={data.streams ?? []} webhooks={data.webhooks ?? []} />
          )}
        </div>
      </div>
    </Page>
  )
}

/** The state of the fleet in a sentence, each part of which leads to those it counts. */
function Lead({ overview: { devices } }: { readonly overview: Overview }) {
  const { blocked, will_block: willBlock, total } = devices
  if (total === 0) return null
  if (blocked + willBlock === 0) return texts.noneBlocked(total)
  return (
    <>
      {blocked === 0 ? null : (
        <ListLink to="/devices" query="auth_state:Blocked">
          {texts.blockedSentence(blocked)}
        </ListLink>
      )}
      {blocked > 0 && willBlock > 0 ? '; ' : null}
      {willBlock === 0 ? null : (
        <ListLink to="/devices" query='auth_state:"Will Block"'>
          {texts.willBlockSentence(willBlock)}
        </ListLink>
      )}
      .
    </>
  )
}

function Loading() {
  return (
    <>
      <Skeleton height={330} radius="md" />
      <Skeleton height={190} radius="md" />
      <div className={classes.columns}>
        <Skeleton height={420} radius="md" />
        <Skeleton height={420} radius="md" />
      </div>
    </>
  )
}
