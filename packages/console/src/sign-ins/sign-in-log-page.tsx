/* One sign-in: what became of it, each step with its evidence, and what the person was shown. */
import { Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { getAuthLogsById } from '../api/generated/sdk.gen.ts'
import type { AuthLog } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { SignInResult } from './sign-in-result.tsx'
import classes from './sign-ins.module.css'
import { texts } from './texts.ts'

export function SignInLogPage() {
  const { id } = useParams({ from: '/frame/sign-ins/$id' })
  const query = useQuery({
    queryKey: ['auth_logs', id],
    queryFn: async ({ signal }) =>
      (
        await getAuthLogsById({
          path: { id },
          query: { expand: 'device' },
          signal,
          throwOnError: true,
        })
      ).data,
  })
  return <Loaded query={query}>{(log) => <SignInDetails log={log} />}</Loaded>
}

function SignInDetails({ log }: { readonly log: AuthLog }) {
  const name = log.person_name === '' ? log.person_email : log.person_name
  return (
    <Page
      title={name}
      badge={<SignInResult result={log.result} isPlain={false} />}
      above={[{ label: texts.title, to: '/sign-ins' }]}
      lead={leadOf(log, name)}
    >
      <Section title={texts.facts}>
        <Facts facts={factsOf(log)} />
      </Section>
      <Section title={texts.steps} lead={log.events.length === 0 ? texts.noSteps : texts.stepsLead}>
        <Timeline bulletSize={14} lineWidth={2} active={log.events.length}>
          {log.events.map((event, index) => (
            <Timeline.Item key={index} title={event.event_description}>
              <div className={classes.step}>
                <Time at={event.timestamp} isExact />
                <code>{event.event_type}</code>
              </div>
            </Timeline.Item>
          ))}
        </Timeline>
      </Section>
      <Section
        title={texts.issues}
        {...(log.issues_displayed.length === 0 ? { lead: texts.noIssues } : {})}
      >
        <ul className={classes.issues}>
          {log.issues_displayed.map((issue) => (
            <li key={issue.id}>
              <ListLink to={`/issues/${issue.id}`}>{issue.title}</ListLink>
              <StateBadge tone={issue.blocking_status === 'blocked' ? 'bad' : 'warn'} isPlain>
                {issue.blocking_status === 'blocked' ? texts.blocking : texts.willBlock}
              </StateBadge>
            </li>
          ))}
        </ul>
      </Section>
    </Page>
  )
}

function leadOf({ result }: AuthLog, name: string): string {
  if (result === null) return texts.underwayLead(name)
  return result === 'Success' ? texts.letInLead(name) : texts.stoppedLead(name)
}

function factsOf(log: AuthLog) {
  const { person_info: person, device_info: device } = log
  const place = [log.city, log.country].filter((each) => each !== undefined && each !== '')
  return [
    [texts.started, <Time key="at" at={log.timestamp} isExact />],
    [
      texts.person,
      person.identifier === '' ? (
        log.person_email
      ) : (
        <ListLink key="person" to={`/people/${person.identifier}`}>
          {log.person_email}
        </ListLink>
      ),
    ],
    [
      texts.device,
      device.identifier === '' ? (
        texts.noDevice
      ) : (
        <ListLink key="device" to={`/devices/${device.identifier}`}>
          {device.record?.name ?? String(device.identifier)}
        </ListLink>
      ),
    ],
    [texts.status, texts.statuses[log.initial_status]],
    [texts.app, log.okta_app_name ?? '–'],
    [texts.address, [log.ip_address ?? '–', ...place].join(' · ')],
    [texts.browser, log.browser_name ?? log.browser_user_agent ?? '–'],
    [texts.agent, log.agent_version ?? '–'],
    ['Id', <Copyable key="id" value={log.id} />],
  ] as const
}
