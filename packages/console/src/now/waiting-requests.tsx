import type { Overview } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { Link } from '@tanstack/react-router'
import classes from './now.module.css'
import { texts } from './texts.ts'

const KINDS = ['exemption', 'registration', 'reenrollment'] as const

/** Who waits for an answer, and for how long. */
export function WaitingRequests({ waiting }: { readonly waiting: Overview['waiting_requests'] }) {
  const isQuiet = KINDS.every((kind) => waiting[kind].count === 0)
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
      </ul>
    </Section>
  )
}
