import { BeakerIcon, CheckCircleFillIcon, PencilIcon, RocketIcon } from '@primer/octicons-react'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { StateBadge } from '../../kit/tone.tsx'
import { texts } from './texts.ts'

interface DraftStateProps {
  readonly draft: CustomCheckDraft
  readonly isPlain?: boolean
}

/** How far a draft is. */
export function DraftState({ draft, isPlain = true }: DraftStateProps) {
  if (draft.published) {
    return draft.has_unpublished_changes ? (
      <StateBadge tone="notified" icon={PencilIcon} isPlain={isPlain}>
        {texts.unpublished}
      </StateBadge>
    ) : (
      <StateBadge tone="good" icon={CheckCircleFillIcon} isPlain={isPlain}>
        {texts.isPublished}
      </StateBadge>
    )
  }
  return draft.publishable ? (
    <StateBadge tone="good" icon={RocketIcon} isPlain={isPlain}>
      {texts.ready}
    </StateBadge>
  ) : (
    <StateBadge tone="unknown" icon={BeakerIcon} isPlain={isPlain}>
      {texts.incomplete}
    </StateBadge>
  )
}
