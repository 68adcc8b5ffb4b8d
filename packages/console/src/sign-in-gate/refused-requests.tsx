/* The requests of an application that never became a sign-in: which field was wrong, and what to do. */
import { useQuery } from '@tanstack/react-query'
import { getSignInApplicationsByIdLastRefusals } from '../api/generated/sdk.gen.ts'
import type { RefusedSignInRequest, SignInApplication } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { AddRedirect } from './add-redirect.tsx'
import { Remedy } from './remedy.tsx'
import classes from './test-tab.module.css'
import { texts } from './texts.ts'

const { test: words } = texts

interface RefusedRequestsProps {
  readonly application: SignInApplication
  readonly lookEveryMs: number
}

export function RefusedRequests({ application, lookEveryMs }: RefusedRequestsProps) {
  const { id } = application
  const query = useQuery({
    queryKey: ['sign_in_applications', id, 'refusals'],
    queryFn: async ({ signal }) =>
      (await getSignInApplicationsByIdLastRefusals({ path: { id }, signal, throwOnError: true }))
        .data,
    refetchInterval: lookEveryMs,
  })
  return (
    <Section title={words.refused} lead={words.refusedLead} isFlush>
      <Loaded query={query} height={80}>
        {({ data, unknown_clients: unknown }) =>
          data.length === 0 && unknown.length === 0 ? (
            <p className={classes.none}>{words.noneRefused}</p>
          ) : (
            <ul className={classes.list} aria-label={words.refused}>
              {[...data, ...unknown].map((refused) => (
                <li
                  key={`${refused.endpoint} ${refused.code} ${refused.field} ${refused.given}`}
                  className={classes.item}
                >
                  <Refused application={application} refused={refused} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  )
}

interface RefusedProps {
  readonly application: SignInApplication
  readonly refused: RefusedSignInRequest
}

function Refused({ application, refused }: RefusedProps) {
  const { field, given, words: told, remedy, request_count: count, last_at: at } = refused
  return (
    <>
      <StateBadge tone="bad" isPlain>
        {words.wrong}
      </StateBadge>
      <div className={classes.what}>
        <div>
          <code>{field}</code> · {words.times(count)} · <Time at={at} />
        </div>
        {given === null ? null : (
          <dl className={classes.values}>
            <dt>{words.given}</dt>
            <dd>{given}</dd>
          </dl>
        )}
        <p className={classes.remedy}>
          {told} <Remedy text={remedy} />
        </p>
        {field === 'redirect_uri' && given !== null ? (
          <AddRedirect application={application} uri={given} />
        ) : null}
      </div>
    </>
  )
}
