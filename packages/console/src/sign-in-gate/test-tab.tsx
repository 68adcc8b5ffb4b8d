/* Whether a set-up works: what came of it last, and what a request would come to, field by field. */
import { Button, PasswordInput, Stack, Textarea } from '@mantine/core'
import { PlugIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import {
  getSignInApplicationsByIdRecentRequests,
  postSignInApplicationsByIdCheckRequest,
} from '../api/generated/sdk.gen.ts'
import type {
  CheckSignInRequest,
  RecentSignInRequest,
  SignInApplication,
  SignInRequestCheck,
} from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { EmptyState, Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge, type Tone } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { MANAGE_PERMISSION } from './gate-queries.ts'
import { AddRedirect } from './add-redirect.tsx'
import { RefusedRequests } from './refused-requests.tsx'
import { Remedy } from './remedy.tsx'
import classes from './test-tab.module.css'
import { texts } from './texts.ts'

const { test: words } = texts

/** While the tab is open: whoever tries something waits for it to appear. */
const LOOK_EVERY_MS = 5_000

export function TestTab({ application }: { readonly application: SignInApplication }) {
  return (
    <>
      <RecentRequests application={application} />
      {application.kind === 'forward_auth' ? null : (
        <RefusedRequests application={application} lookEveryMs={LOOK_EVERY_MS} />
      )}
      {application.kind === 'oidc' ? <CheckRequest application={application} /> : null}
    </>
  )
}

function RecentRequests({ application: { id } }: { readonly application: SignInApplication }) {
  const query = useQuery({
    queryKey: ['sign_in_attempts', 'recent', id],
    queryFn: async ({ signal }) =>
      (await getSignInApplicationsByIdRecentRequests({ path: { id }, signal, throwOnError: true }))
        .data.data,
    refetchInterval: LOOK_EVERY_MS,
  })
  return (
    <Section title={words.recent} lead={words.recentLead} isFlush>
      <Loaded query={query} height={120}>
        {(requests) =>
          requests.length === 0 ? (
            <EmptyState icon={PlugIcon} title={words.none}>
              {words.noneHelp}
            </EmptyState>
          ) : (
            <ol className={classes.list} aria-label={words.recent}>
              {requests.map((request) => (
                <li key={request.id} className={classes.item}>
                  <Request request={request} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Section>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  done: 'good',
  refused: 'bad',
  blocked: 'bad',
  warned: 'warn',
  abandoned: 'unknown',
}

function Request({ request }: { readonly request: RecentSignInRequest }) {
  const { stage, refusal, person_email: email, device_name: device, auth_log_id: log } = request
  const stages: Readonly<Record<string, string>> = words.stages
  return (
    <>
      <StateBadge tone={TONES[stage] ?? 'notified'} isPlain>
        {stages[stage] ?? stage}
      </StateBadge>
      <div className={classes.what}>
        <div>
          {email ?? words.nobody}
          {device === null ? '' : `, ${device}`}
          {' · '}
          <Time at={request.started_at} />
          {log === null ? null : (
            <>
              {' · '}
              <RecordLink kind="signIn" id={log}>
                {words.record}
              </RecordLink>
            </>
          )}
        </div>
        {refusal === null ? null : (
          <p className={classes.remedy}>
            {refusal.words} <Remedy text={refusal.remedy} />
          </p>
        )}
      </div>
    </>
  )
}

function CheckRequest({ application }: { readonly application: SignInApplication }) {
  const { id } = application
  const may = useMay(MANAGE_PERMISSION)
  const [url, setUrl] = useState('')
  const [secret, setSecret] = useState('')
  const check = useAction({
    run: async (body: CheckSignInRequest) =>
      (await postSignInApplicationsByIdCheckRequest({ path: { id }, body, throwOnError: true }))
        .data,
    changes: [],
    showsFailure: true,
  })
  const asked = { url: url.trim(), secret }
  const body: CheckSignInRequest = {
    ...(asked.url === '' ? {} : { authorization_url: asked.url }),
    ...(asked.secret === '' ? {} : { client_secret: asked.secret }),
  }
  // What was found of a request says nothing of another one.
  const isOfAsked = JSON.stringify(check.variables) === JSON.stringify(body)
  const error = isOfAsked ? check.error : null
  const faults = fieldFaultsOf(error)
  return (
    <Section title={words.check} lead={words.checkLead}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          check.mutate(body)
        }}
      >
        <Stack maw={760}>
          <Textarea
            label={words.url}
            description={words.urlHelp}
            placeholder={`${application.issuer}/authorize?client_id=…`}
            autosize
            minRows={2}
            maxRows={8}
            spellCheck={false}
            value={url}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
            error={faults?.['authorization_url']}
          />
          <PasswordInput
            label={words.secret}
            description={words.secretHelp}
            autoComplete="new-password"
            value={secret}
            onChange={({ currentTarget }) => setSecret(currentTarget.value)}
            error={faults?.['client_secret']}
          />
          <div>
            <Button
              type="submit"
              variant="default"
              loading={check.isPending}
              disabled={!may || (asked.url === '' && asked.secret === '')}
              title={may ? undefined : texts.mayNot}
            >
              {words.checkNow}
            </Button>
          </div>
          <Fault error={faults === null ? error : null} />
          {check.data === undefined || !isOfAsked ? null : (
            <Findings application={application} findings={check.data.findings} />
          )}
        </Stack>
      </form>
    </Section>
  )
}

interface FindingsProps {
  readonly application: SignInApplication
  readonly findings: SignInRequestCheck['findings']
}

function Findings({ application, findings }: FindingsProps) {
  const wrong = findings.filter(({ fits }) => !fits).length
  return (
    <div role="status">
      <p className={classes.sum}>{words.sum(wrong)}</p>
      <ul className={classes.list} aria-label={words.findings}>
        {[...findings.filter(({ fits }) => !fits), ...findings.filter(({ fits }) => fits)].map(
          ({ field, fits, given, expected, remedy }) => (
            <li key={field} className={classes.item}>
              <StateBadge tone={fits ? 'good' : 'bad'} isPlain>
                {fits ? words.fits : words.wrong}
              </StateBadge>
              <div className={classes.what}>
                <code>{field}</code>
                {fits ? null : (
                  <>
                    <dl className={classes.values}>
                      <dt>{words.given}</dt>
                      <dd>{given ?? words.nothing}</dd>
                      {expected === null ? null : (
                        <>
                          <dt>{words.expected}</dt>
                          <dd>{expected}</dd>
                        </>
                      )}
                    </dl>
                    <p className={classes.remedy}>
                      <Remedy text={remedy ?? ''} />
                    </p>
                    {field === 'redirect_uri' && given !== null ? (
                      <AddRedirect application={application} uri={given} />
                    ) : null}
                  </>
                )}
              </div>
            </li>
          ),
        )}
      </ul>
    </div>
  )
}
