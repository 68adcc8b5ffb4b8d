import { CircleSlashIcon } from '@primer/octicons-react'
import type { Webhook } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

interface WebhookStateProps {
  readonly webhook: Pick<Webhook, 'enabled' | 'failing_since'>
  readonly isPlain?: boolean
}

/** Whether a webhook is on, and whether what it sends is accepted. */
export function WebhookState({ webhook, isPlain = false }: WebhookStateProps) {
  if (!webhook.enabled) {
    return (
      <StateBadge tone="unknown" icon={CircleSlashIcon} isPlain={isPlain}>
        {texts.off}
      </StateBadge>
    )
  }
  const isFailing = webhook.failing_since !== null
  return (
    <StateBadge tone={isFailing ? 'bad' : 'good'} isPlain={isPlain}>
      {isFailing ? texts.failing : texts.on}
    </StateBadge>
  )
}
