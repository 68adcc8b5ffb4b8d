import type { SignInApplication } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

interface ApplicationStateProps {
  readonly application: Pick<SignInApplication, 'enabled'>
  readonly isPlain?: boolean
}

/** Whether anybody can sign in to an application. */
export function ApplicationState({ application, isPlain = false }: ApplicationStateProps) {
  return (
    <StateBadge tone={application.enabled ? 'good' : 'unknown'} isPlain={isPlain}>
      {application.enabled ? texts.on : texts.off}
    </StateBadge>
  )
}
