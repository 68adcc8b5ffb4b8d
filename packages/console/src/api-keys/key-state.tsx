import type { ApiKey } from '../api/generated/types.gen.ts'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { texts } from './texts.ts'

const TONES: Readonly<Record<ApiKey['state'], Tone>> = {
  live: 'good',
  expired: 'unknown',
  revoked: 'bad',
}

/** Whether a key is taken. */
export function KeyState({ state }: Pick<ApiKey, 'state'>) {
  return (
    <StateBadge tone={TONES[state]} isPlain>
      {texts.states[state]}
    </StateBadge>
  )
}
