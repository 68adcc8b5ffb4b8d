import {
  CheckCircleFillIcon,
  CircleSlashIcon,
  ClockIcon,
  SyncIcon,
  XCircleFillIcon,
} from '@primer/octicons-react'
import type { Delivery } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

const LOOKS = {
  queued: { tone: 'notified', icon: ClockIcon, label: texts.states.queued },
  retrying: { tone: 'warn', icon: SyncIcon, label: texts.retrying },
  delivered: { tone: 'good', icon: CheckCircleFillIcon, label: texts.states.delivered },
  dead: { tone: 'bad', icon: XCircleFillIcon, label: texts.states.dead },
  discarded: { tone: 'unknown', icon: CircleSlashIcon, label: texts.states.discarded },
} as const

/** Where a delivery stands; one that waits after a failed attempt is told apart. */
export function situationOf({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>) {
  return state === 'queued' && attempts > 0 ? 'retrying' : state
}

interface DeliveryStateProps {
  readonly delivery: Pick<Delivery, 'state' | 'attempts'>
  readonly isPlain?: boolean
}

export function DeliveryState({ delivery, isPlain = false }: DeliveryStateProps) {
  const { tone, icon, label } = LOOKS[situationOf(delivery)]
  return (
    <StateBadge tone={tone} icon={icon} isPlain={isPlain}>
      {label}
    </StateBadge>
  )
}
