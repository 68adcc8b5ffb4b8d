import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

/** How many devices a campaign was put to. */
export function countAsked(campaign: LiveQueryCampaign): number {
  return countAnswered(campaign) + campaign.waiting_devices_count
}

/** How many of them have answered, in whatever way. */
export function countAnswered(campaign: LiveQueryCampaign): number {
  return campaign.successful_devices_count + campaign.errored_devices_count
}

interface CampaignStateProps {
  readonly campaign: LiveQueryCampaign
  readonly isPlain?: boolean
}

export function CampaignState({ campaign, isPlain = true }: CampaignStateProps) {
  const { published, asked_at: askedAt, waiting_devices_count: waiting } = campaign
  if (!published) {
    return (
      <StateBadge tone="unknown" isPlain={isPlain}>
        {askedAt === null ? texts.draft : texts.stopped}
      </StateBadge>
    )
  }
  return (
    <StateBadge tone={waiting === 0 ? 'good' : 'notified'} isPlain={isPlain}>
      {waiting === 0 ? texts.done : texts.asking}
    </StateBadge>
  )
}
