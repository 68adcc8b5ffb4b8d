import type { Overview } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { ListLink, quoteTime } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import { useNow } from '../kit/time.tsx'
import { HourglassIcon } from '@primer/octicons-react'
import classes from './now.module.css'
import { texts } from './texts.ts'

type Day = Overview['blocking_days'][number]

const weekday = new Intl.DateTimeFormat('en', { weekday: 'short' })
const dayOfMonth = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })

/** The next seven days, with the devices whose time runs out on each. */
export function BlockingWeek({ days }: { readonly days: readonly Day[] }) {
  const count = days.reduce((sum, day) => sum + day.device_count, 0)
  return (
    <Section title={texts.week} lead={count === 0 ? texts.weekNone : texts.weekLead} isFlush>
      <ol className={classes.week}>
        {days.map((day, index) => (
          <DayCell key={day.date} day={day} isToday={index === 0} />
        ))}
      </ol>
    </Section>
  )
}

function DayCell({ day, isToday }: { readonly day: Day; readonly isToday: boolean }) {
  const start = new Date(`${day.date}T00:00:00`)
  const end = new Date(start)
  end.setDate(end.getDate() + 1)
  const before = `will_block_at<${quoteTime(end)}`
  const query = isToday ? before : `will_block_at>${quoteTime(start)} AND ${before}`
  const others = day.device_count - day.devices.length
  return (
    <li className={classes.day} data-today={isToday ? '' : undefined}>
      <div className={classes.dayHead}>
        <span className={classes.dayName}>{isToday ? texts.today : weekday.format(start)}</span>
        <span className={classes.dayDate}>{dayOfMonth.format(start)}</span>
        {day.device_count === 0 ? null : (
          <ListLink to="/devices" query={query} className={classes.dayCount}>
            <HourglassIcon size={12} aria-hidden />
            <span>{formatCount(day.device_count)}</span>
            <span className={classes.hidden}>{texts.devices(day.device_count)}</span>
          </ListLink>
        )}
      </div>
      {day.device_count === 0 ? (
        <span className={classes.freeDay}>{texts.freeDay}</span>
      ) : (
        <ul className={classes.dueDevices}>
          {day.devices.map((device) => (
            <DueDevice key={device.id} device={device} />
          ))}
          {others > 0 ? (
            <li>
              <ListLink to="/devices" query={query}>
                {texts.more(others)}
              </ListLink>
            </li>
          ) : null}
        </ul>
      )}
    </li>
  )
}

function DueDevice({ device }: { readonly device: Day['devices'][number] }) {
  const now = useNow()
  const at = new Date(device.will_block_at)
  const isOverdue = at.getTime() < now
  return (
    <li>
      <ListLink to={`/devices/${device.id}`} className={classes.dueDevice}>
        <span className={classes.dueName}>{device.name}</span>
        <span className={classes.dueFacts}>
          <time dateTime={device.will_block_at}>
            {isOverdue ? texts.overdue : clock.format(at)}
          </time>
          {' · '}
          {device.owner_name ?? texts.unowned}
        </span>
      </ListLink>
    </li>
  )
}
