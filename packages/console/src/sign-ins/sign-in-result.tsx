import type { AuthLog } from '../api/generated/types.gen.ts'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

interface SignInResultProps {
  readonly result: AuthLog['result']
  readonly isPlain?: boolean
}

/** What became of a sign-in. */
export function SignInResult({ result, isPlain = true }: SignInResultProps) {
  if (result === null) {
    return (
      <StateBadge tone="unknown" isPlain={isPlain}>
        {texts.underway}
      </StateBadge>
    )
  }
  return (
    <StateBadge tone={result === 'Success' ? 'good' : 'bad'} isPlain={isPlain}>
      {result === 'Success' ? texts.success : texts.fail}
    </StateBadge>
  )
}
