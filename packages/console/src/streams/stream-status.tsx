import { CheckCircleFillIcon, CircleSlashIcon, PauseIcon } from '@primer/octicons-react'
import type { Stream } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

const LOOKS = {
  enabled: { tone: 'good', icon: CheckCircleFillIcon },
  paused: { tone: 'warn', icon: PauseIcon },
  disabled: { tone: 'unknown', icon: CircleSlashIcon },
} as const

interface StreamStatusProps {
  readonly status: Stream['status']
  readonly isPlain?: boolean
}

/** Whether a stream delivers, holds or drops its events. */
export function StreamStatus({ status, isPlain = false }: StreamStatusProps) {
  const { tone, icon } = LOOKS[status]
  return (
    <StateBadge tone={tone} icon={icon} isPlain={isPlain}>
      {texts.statuses[status]}
    </StateBadge>
  )
}
