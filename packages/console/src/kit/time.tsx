/* Times: how long ago at sight, exactly on pointing, and moving on by themselves. */
import { Tooltip } from '@mantine/core'
import { useRef, useState, useSyncExternalStore } from 'react'
import { texts } from './texts.ts'

const TICK_MS = 15_000
const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'long',
  hourCycle: 'h23',
})

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = Date.now()

/** One timer for all times of the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    timer = setInterval(moveOn, TICK_MS)
    document.addEventListener('visibilitychange', moveOn)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
    document.removeEventListener('visibilitychange', moveOn)
  }
}

function moveOn(): void {
  now = Date.now()
  for (const each of listeners) each()
}

/** While there is no timer nobody has moved it on; so close to each other, what renders together reads the same. */
function readNow(): number {
  if (timer === undefined && Math.abs(Date.now() - now) >= TICK_MS) now = Date.now()
  return now
}

/** The present moment in milliseconds, moving on every 15 s. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, readNow)
}

/** `3 min. ago`, `in 2 days`, `just now`. */
export function formatRelative(iso: string, at: number): string {
  const seconds = (Date.parse(iso) - at) / 1000
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return seconds > 5 ? 'in a moment' : 'just now'
}

/** Date and time with seconds and zone. */
export function formatExact(iso: string): string {
  return exact.format(new Date(iso))
}

interface TimeProps {
  /** ISO 8601; null where it has not happened. */
  readonly at: string | null | undefined
  /** Stands where there is no time. */
  readonly absent?: string
  /** Shows the exact time at sight, and how long ago on pointing. */
  readonly isExact?: boolean
}

export function Time({ at, absent = texts.never, isExact = false }: TimeProps) {
  const moment = useNow()
  const time = useRef<HTMLTimeElement>(null)
  // Lists have hundreds of times, and a tooltip costs more than all of a row: there is one while somebody points. The
  // element under the pointer stays what it was: another one would not hear of the pointer before it moves again.
  const [isPointedAt, setPointedAt] = useState(false)
  if (at === null || at === undefined || at === '') return <span>{absent}</span>
  // What was after the clock was last looked at is not still to come.
  const ago = formatRelative(at, Date.parse(at) > moment ? Date.now() : moment)
  const shown = isExact ? formatExact(at) : ago
  return (
    <>
      <time
        ref={time}
        dateTime={at}
        onMouseEnter={() => setPointedAt(true)}
        onMouseLeave={() => setPointedAt(false)}
      >
        {shown}
      </time>
      {isPointedAt && <Tooltip opened target={time} label={isExact ? ago : formatExact(at)} />}
    </>
  )
}
