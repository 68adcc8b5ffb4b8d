import { SkipIcon, CheckCircleFillIcon } from '@primer/octicons-react'
import type { Issue } from '../api/generated/types.gen.ts'
import { useNow } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { texts } from './texts.ts'

export type IssueStateName = 'resolved' | 'exempted' | 'blocking' | 'will_block' | 'open'

const LOOKS: Readonly<Record<IssueStateName, readonly [Tone, string]>> = {
  resolved: ['good', texts.isResolved],
  exempted: ['unknown', texts.isExempted],
  blocking: ['bad', texts.isBlocking],
  will_block: ['warn', texts.willBlock],
  open: ['notified', texts.isOpen],
}

const ICONS = { resolved: CheckCircleFillIcon, exempted: SkipIcon } as const

/** What an issue means at this moment. */
export function stateOf(issue: Issue, now: number): IssueStateName {
  if (issue.resolved_at !== null) return 'resolved'
  if (issue.exempted) return 'exempted'
  if (issue.blocks_device_at === null) return 'open'
  return Date.parse(issue.blocks_device_at) <= now ? 'blocking' : 'will_block'
}

interface IssueStateProps {
  readonly issue: Issue
  readonly isPlain?: boolean
}

export function IssueState({ issue, isPlain = true }: IssueStateProps) {
  const name = stateOf(issue, useNow())
  const [tone, label] = LOOKS[name]
  const icon = name === 'resolved' || name === 'exempted' ? { icon: ICONS[name] } : {}
  return (
    <StateBadge tone={tone} isPlain={isPlain} {...icon}>
      {label}
    </StateBadge>
  )
}
