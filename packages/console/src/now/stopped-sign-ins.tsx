import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Overview } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { ListLink, quoteTime } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import classes from './now.module.css'
import { texts } from './texts.ts'

const WEEK_MS = 7 * 86_400_000

/** How many people could not get in because of their device, and who last. */
export function StoppedSignIns({
  stopped,
}: {
  readonly stopped: NonNullable<Overview['stopped_sign_ins']>
}) {
  const { today, last_seven_days: week, latest } = stopped
  const midnight = new Date()
  midnight.setHours(0, 0, 0, 0)
  const query = (since: Date) => `result:Fail AND timestamp>${quoteTime(since)}`
  return (
    <Section
      title={texts.signIns}
      lead={week.count === 0 ? texts.signInsNone : texts.signInsLead}
      actions={
        <Anchor component={Link} to="/sign-ins" size="sm">
          {texts.view}
        </Anchor>
      }
    >
      <div className={classes.counts}>
        <ListLink to="/sign-ins" query={query(midnight)}>
          <b>{countText(today)}</b> {texts.todayCount}
        </ListLink>
        <ListLink to="/sign-ins" query={query(new Date(midnight.getTime() - WEEK_MS))}>
          <b>{countText(week)}</b> {texts.weekCount}
        </ListLink>
      </div>
      <ul className={classes.lines}>
        {latest.map((signIn) => (
          <li key={signIn.id}>
            <ListLink to={`/sign-ins/${signIn.id}`} className={classes.line}>
              <span className={classes.clip}>{signIn.person_name}</span>
              <span className={classes.quiet}>
                {signIn.device_id === null
                  ? texts.withoutDevice
                  : texts.initially[signIn.initial_status]}
              </span>
              <span className={classes.when}>
                <Time at={signIn.started_at} />
              </span>
            </ListLink>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function countText({ count, exact }: { readonly count: number; readonly exact: boolean }): string {
  return exact ? formatCount(count) : `${formatCount(count)}+`
}
