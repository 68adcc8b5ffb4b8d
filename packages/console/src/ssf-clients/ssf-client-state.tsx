import type { SsfClient } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

interface SsfClientStateProps {
  readonly client: Pick<SsfClient, 'revoked_at'>
  readonly isPlain?: boolean
}

/** Whether a client can sign in. */
export function SsfClientState({ client, isPlain = false }: SsfClientStateProps) {
  const isRevoked = client.revoked_at !== null
  return (
    <StateBadge tone={isRevoked ? 'unknown' : 'good'} isPlain={isPlain}>
      {isRevoked ? texts.revoked : texts.active}
    </StateBadge>
  )
}
