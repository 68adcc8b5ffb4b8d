/* A state in a word, a shape and a colour: never by the colour alone. */
import {
  BellFillIcon,
  BlockedIcon,
  CheckCircleFillIcon,
  HourglassIcon,
  IssueDraftIcon,
  type Icon,
} from '@primer/octicons-react'
import type { ReactNode } from 'react'
import classes from './tone.module.css'

/** What a state means for whoever reads it. */
export type Tone = 'good' | 'notified' | 'warn' | 'bad' | 'unknown'

const ICONS: Readonly<Record<Tone, Icon>> = {
  good: CheckCircleFillIcon,
  notified: BellFillIcon,
  warn: HourglassIcon,
  bad: BlockedIcon,
  unknown: IssueDraftIcon,
}

interface StateBadgeProps {
  readonly tone: Tone
  readonly children: ReactNode
  /** Without a ground, for rows of tables. */
  readonly isPlain?: boolean
  readonly icon?: Icon
}

export function StateBadge({ tone, children, isPlain = false, icon }: StateBadgeProps) {
  const Shape = icon ?? ICONS[tone]
  return (
    <span className={classes.badge} data-tone={tone} data-plain={isPlain ? '' : undefined}>
      <Shape size={14} aria-hidden />
      {children}
    </span>
  )
}

const DEVICE_TONES: Readonly<Record<string, Tone>> = {
  Good: 'good',
  Notified: 'notified',
  'Will Block': 'warn',
  Blocked: 'bad',
}

/** Whether a device may sign in, in the words of the API (`auth_state`). */
export function DeviceState({ state, isPlain = true }: { state: string; isPlain?: boolean }) {
  return (
    <StateBadge tone={DEVICE_TONES[state] ?? 'unknown'} isPlain={isPlain}>
      {state}
    </StateBadge>
  )
}
