/* When a granted session ends or ended, why, and whether its application has taken that. */
import type { ListedSignInSession } from '../api/generated/types.gen.ts'
import { Time, useNow } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { texts } from './texts.ts'

const { sessions: words } = texts

/** Whether a session is good no more at a moment in milliseconds: it was ended, or its time has run out. */
export function isSessionOver(
  { ended_at: ended, expires_at: expires }: Pick<ListedSignInSession, 'ended_at' | 'expires_at'>,
  now: number,
): boolean {
  return ended !== null || Date.parse(expires) <= now
}

interface SessionEndProps {
  readonly session: ListedSignInSession
}

export function SessionEnd({ session }: SessionEndProps) {
  const { ended_at: ended, end_reason: reason, expires_at: expires } = session
  const isOver = isSessionOver(session, useNow())
  if (!isOver) return <Time at={expires} />
  return (
    <>
      <Time at={ended ?? expires} /> {reason === null ? words.ranOut : words.reasons[reason]}
      <LogoutState session={session} />
    </>
  )
}

/** Nothing where the application knows, where it was not asked yet, and where nothing is to be told. */
function LogoutState({ session }: SessionEndProps) {
  const { logout_outcome: outcome, logout_failure: failure } = session
  if (failure === null) return null
  return (
    <div>
      <StateBadge tone={outcome === 'given_up' ? 'bad' : 'warn'} isPlain>
        {outcome === 'given_up' ? words.logoutGivenUp : words.logoutDue}
      </StateBadge>
      <div>{failure}</div>
    </div>
  )
}
