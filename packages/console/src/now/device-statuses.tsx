import { SegmentedControl, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { getOverviewDeviceStatuses } from '../api/generated/sdk.gen.ts'
import type { DeviceStatusCourse, Overview } from '../api/generated/types.gen.ts'
import { Chart, type ChartSeries } from '../kit/chart.tsx'
import { formatCount } from '../kit/figures.ts'
import { ListLink } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import classes from './now.module.css'
import { RANGES, type Range } from './now-search.ts'
import { texts } from './texts.ts'

const DAY_MS = 86_400_000
/** The service counts every five minutes. */
const REFRESH_MS = 60_000
const CHART_HEIGHT = 236

const STATES = [
  { id: 'blocked', tone: 'bad' },
  { id: 'will_block', tone: 'warn' },
  { id: 'notified', tone: 'notified' },
  { id: 'good', tone: 'good' },
] as const satisfies readonly { readonly id: keyof typeof texts.states; readonly tone: Tone }[]

const SERIES: readonly ChartSeries[] = STATES.map(({ id, tone }) => ({
  id,
  tone,
  label: texts.states[id],
}))

/** How many devices are in each state, and how it came to be so. */
export function DeviceStatuses({ devices }: { readonly devices: Overview['devices'] }) {
  const { range = 'week' } = useSearch({ from: '/frame/' })
  const navigate = useNavigate()
  const course = useQuery({
    queryKey: ['overview', 'course', range],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - RANGES[range] * DAY_MS).toISOString()
      const { data } = await getOverviewDeviceStatuses({
        query: { from },
        signal,
        throwOnError: true,
      })
      return data
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
  const points = useMemo(
    () =>
      course.data?.points.map((point) => ({
        at: point.at,
        values: STATES.map(({ id }) => point[id]),
      })) ?? [],
    [course.data],
  )
  const { from = '', to = '' } = course.data ?? {}
  const first = atBeginning(course.data)
  return (
    <Section
      title={texts.statuses}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={texts.range}
          value={range}
          onChange={(next) =>
            void navigate({ to: '/', search: { range: next as Range }, replace: true })
          }
          data={Object.entries(texts.ranges).map(([value, label]) => ({ value, label }))}
        />
      }
    >
      <div className={classes.statuses}>
        <ul className={classes.tiles}>
          {STATES.map(({ id, tone }) => (
            <li key={id}>
              <ListLink
                to="/devices"
                query={`auth_state:"${texts.states[id]}"`}
                className={classes.tile}
              >
                <StateBadge tone={tone} isPlain>
                  {texts.states[id]}
                </StateBadge>
                <span className={classes.figure}>{formatCount(devices[id])}</span>
                <span className={classes.change}>
                  {first === undefined ? null : changeText(devices[id] - first[id], range)}
                </span>
              </ListLink>
            </li>
          ))}
        </ul>
        {course.isPending ? (
          <Skeleton height={CHART_HEIGHT} />
        ) : course.error !== null && points.length === 0 ? (
          <ErrorState error={course.error} onRetry={() => void course.refetch()} />
        ) : points.length < 2 ? (
          <p className={classes.quiet}>{texts.noCourse}</p>
        ) : (
          <Chart
            name={texts.statuses}
            series={SERIES}
            points={points}
            from={from}
            to={to}
            height={CHART_HEIGHT}
          />
        )}
      </div>
    </Section>
  )
}

/** The first count, where the course reaches back to the beginning of the span. */
function atBeginning(course: DeviceStatusCourse | undefined) {
  const first = course?.points[0]
  if (course === undefined || first === undefined) return undefined
  const missing = Date.parse(first.at) - Date.parse(course.from)
  const span = Date.parse(course.to) - Date.parse(course.from)
  return missing > span / 20 ? undefined : first
}

function changeText(change: number, range: Range): string {
  if (change === 0) return `${texts.unchanged} ${texts.since[range]}`
  const sign = change > 0 ? '+' : '−'
  return `${sign}${formatCount(Math.abs(change))} ${texts.since[range]}`
}
