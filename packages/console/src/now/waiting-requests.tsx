import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getSignInAttempts } from '../api/generated/sdk.gen.ts'
import type { Overview } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { useMay } from '../shell/session.ts'
import classes from './now.module.css'
import { texts } from './texts.ts'

const KINDS = ['exemption', 'registration', 'reenrollment'] as const

const SIGN_INS_PERMISSION = 'Read Sign-in'

const COUNTED_MAX = 100

interface WaitingSignIns {
  readonly count: number
  /** There are more sign-ins than were looked at. */
  readonly hasMore: boolean
}

/** Sign-ins that wait for an admin; undefined for whom they are none of the business, and until they are known. */
function useWaitingSignIns(): WaitingSignIns | undefined {
  const { data } = useQuery({
    queryKey: ['sign_in_attempts', 'list', 'now'],
    queryFn: async ({ signal }) => {
      const query = { per_page: COUNTED_MAX }
      return (await getSignInAttempts({ query, signal, throwOnError: true })).data
    },
    enabled: useMay(SIGN_INS_PERMISSION),
  })
  if (data === undefined) return undefined
  return {
    count: data.data.filter(({ ways }) => ways.includes('admin_approval')).length,
    hasMore: data.pagination.next_cursor !== '',
  }
}

/** Who waits for an answer, and for how long. */
export function WaitingRequests({ waiting }: { readonly waiting: Overview['waiting_requests'] }) {
  const signIns = useWaitingSignIns()
  const isQuiet =
    KINDS.every((kind) => waiting[kind].count === 0) &&
    (signIns === undefined || (signIns.count === 0 && !signIns.hasMore))
  return (
    <Section title={texts.requests} {...(isQuiet ? { lead: texts.requestsNone } : {})}>
      <ul className={classes.lines}>
        {KINDS.map((kind) => {
          const { count, oldest_requested_at: oldest } = waiting[kind]
          return (
            <li key={kind}>
              <Link to="/requests" search={{ kind }} className={classes.line}>
                <span>{texts.requestKinds[kind]}</span>
                {oldest === null ? null : (
                  <span className={classes.quiet}>
                    {texts.oldest} <Time at={oldest} />
                  </span>
                )}
                <b data-none={count === 0 ? '' : undefined}>{formatCount(count)}</b>
              </Link>
            </li>
          )
        })}
        {signIns === undefined ? null : (
          <li>
            <Link to="/requests/sign-ins" className={classes.line}>
              <span>{texts.requestKinds.sign_in}</span>
              <b data-none={signIns.count === 0 && !signIns.hasMore ? '' : undefined}>
                {formatCount(signIns.count)}
                {signIns.hasMore ? '+' : ''}
              </b>
            </Link>
          </li>
        )}
      </ul>
    </Section>
  )
}
