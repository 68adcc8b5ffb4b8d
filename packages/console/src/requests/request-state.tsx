import {
  XCircleFillIcon,
  CheckCircleFillIcon,
  HourglassIcon,
  SkipIcon,
} from '@primer/octicons-react'
import { StateBadge } from '../kit/tone.tsx'
import type { InboxRequest } from './request-kinds.ts'
import { texts } from './texts.ts'

const LOOKS = {
  open: ['warn', HourglassIcon],
  pending: ['warn', HourglassIcon],
  approved: ['good', CheckCircleFillIcon],
  completed: ['good', CheckCircleFillIcon],
  denied: ['bad', XCircleFillIcon],
  withdrawn: ['unknown', SkipIcon],
} as const

/** Whether a request waits, and what became of it. */
export function RequestState({ status }: { readonly status: InboxRequest['status'] }) {
  const [tone, icon] = LOOKS[status]
  return (
    <StateBadge tone={tone} icon={icon} isPlain>
      {texts.states[status]}
    </StateBadge>
  )
}
