import { BellIcon, BlockedIcon, HourglassIcon, ReportIcon, type Icon } from '@primer/octicons-react'
import type { CheckConfiguration } from '../api/generated/types.gen.ts'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { texts } from './texts.ts'

export type Strategy = CheckConfiguration['remediation_strategy']

const LOOKS: Readonly<Record<Strategy, readonly [Tone, Icon]>> = {
  block_immediately: ['bad', BlockedIcon],
  warn_then_block: ['warn', HourglassIcon],
  notify_only: ['notified', BellIcon],
  report_only: ['unknown', ReportIcon],
}

/** What a check does to a device that fails it. */
export function StrategyBadge({ strategy }: { readonly strategy: Strategy }) {
  const [tone, icon] = LOOKS[strategy]
  return (
    <StateBadge tone={tone} icon={icon} isPlain>
      {texts.strategies[strategy]}
    </StateBadge>
  )
}
