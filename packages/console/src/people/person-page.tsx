/* One person: devices, open issues, groups and sign-ins. */
import { Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import {
  getAuthLogs,
  getDeprovisionedPeopleById,
  getPeopleById,
  getPeopleByIdOpenIssues,
  getPeopleByIdPersonGroups,
  getPeopleByIdRegisteredDevices,
} from '../api/generated/sdk.gen.ts'
import type { AuthLog, DeprovisionedPerson, Device, Person } from '../api/generated/types.gen.ts'
import { SignInResult } from '../devices/device-sign-ins.tsx'
import { IssueTable } from '../devices/issue-table.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState, StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import classes from './person-page.module.css'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.above, to: '/people' }]

export function PersonPage() {
  const { id } = useParams({ from: '/frame/people/$id' })
  const query = useQuery({
    queryKey: ['people', id],
    queryFn: ({ signal }) => findPerson(id, signal),
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(found) => <PersonDetails {...found} />}
    </LoadedPage>
  )
}

interface FoundPerson {
  readonly person: Person | DeprovisionedPerson
  /** The identity provider has removed them. */
  readonly isGone: boolean
}

function PersonDetails({ person, isGone }: FoundPerson) {
  const { id } = person
  return (
    <Page
      title={person.name}
      above={ABOVE}
      badge={isGone ? <StateBadge tone="unknown">{texts.deprovisioned}</StateBadge> : null}
      lead={isGone ? texts.gone : person.email}
    >
      <div className={classes.columns}>
        <div className={classes.column}>
          {isGone ? null : <Devices id={id} />}
          {isGone ? null : <Issues id={id} />}
          <SignIns id={id} />
        </div>
        <div className={classes.column}>
          <Section title={texts.facts}>
            <Facts
              facts={[
                [texts.email, <Copyable value={person.email} />],
                [texts.lastSignIn, <Time at={person.last_authenticated_at} />],
                [texts.created, <Time at={person.created_at} />],
                ...('usernames' in person && person.usernames.length > 0
                  ? [[texts.usernames, person.usernames.join(', ')] as const]
                  : []),
                [texts.id, <Copyable value={person.id} />],
              ]}
            />
          </Section>
          {isGone ? null : <Groups id={id} />}
        </div>
      </div>
    </Page>
  )
}

/** Somebody who has been deprovisioned is found among those. */
async function findPerson(id: string, signal: AbortSignal): Promise<FoundPerson> {
  const request = { path: { id }, signal, throwOnError: true } as const
  try {
    return { person: (await getPeopleById(request)).data, isGone: false }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return { person: (await getDeprovisionedPeopleById(request)).data, isGone: true }
  }
}

interface PartProps {
  /** Of the person. */
  readonly id: string
}

const DEVICE_COLUMNS: readonly Column<Device>[] = [
  {
    id: 'name',
    header: texts.device,
    narrow: true,
    cell: ({ id, name }) => (
      <RecordLink kind="device" id={id}>
        {name}
      </RecordLink>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    cell: ({ auth_state: state }) => <DeviceState state={state} />,
  },
  { id: 'system', header: texts.system, cell: ({ operating_system: system }) => system },
  { id: 'seen', header: texts.lastSeen, cell: ({ last_seen_at: at }) => <Time at={at} /> },
]

function Devices({ id }: PartProps) {
  const list = useList(['devices', 'list', 'person', id], (page) =>
    getPeopleByIdRegisteredDevices({ ...page, path: { id } }),
  )
  return (
    <Section title={texts.devices} isFlush>
      <ShortTable
        name={texts.devices}
        columns={DEVICE_COLUMNS}
        list={list}
        rowId={(device) => device.id}
        empty={texts.noDevices}
      />
    </Section>
  )
}

function Issues({ id }: PartProps) {
  const issues = useQuery({
    queryKey: ['issues', 'list', 'person', id],
    queryFn: async ({ signal }) => {
      const query = { per_page: 100 }
      const request = { path: { id }, query, signal, throwOnError: true } as const
      return (await getPeopleByIdOpenIssues(request)).data.data
    },
  })
  return (
    <Section title={texts.issues} isFlush>
      <IssueTable name={texts.issues} issues={issues} empty={texts.noIssues} />
    </Section>
  )
}

function Groups({ id }: PartProps) {
  const list = useList(['person_groups', 'list', 'person', id], (page) =>
    getPeopleByIdPersonGroups({ ...page, path: { id } }),
  )
  return (
    <Section title={texts.groups}>
      {list.items.length === 0 ? (
        <span className={classes.quiet}>{list.isLoading ? '' : texts.noGroups}</span>
      ) : (
        <Group gap={6}>
          {list.items.map((group) => (
            <Badge key={group.id} tt="none">
              {group.name}
            </Badge>
          ))}
        </Group>
      )}
    </Section>
  )
}

const SIGN_IN_COLUMNS: readonly Column<AuthLog>[] = [
  {
    id: 'at',
    header: texts.at,
    narrow: true,
    cell: ({ id, timestamp }) => (
      <RecordLink kind="signIn" id={id}>
        <Time at={timestamp} />
      </RecordLink>
    ),
  },
  {
    id: 'result',
    header: texts.result,
    narrow: true,
    cell: ({ result }) => <SignInResult result={result} />,
  },
  {
    id: 'from',
    header: texts.from,
    cell: ({ city, country, ip_address: address }) =>
      [city, country, address].filter((part) => part !== undefined && part !== null).join(', '),
  },
]

function SignIns({ id }: PartProps) {
  const list = useList(
    ['auth_logs', 'list', 'person', id],
    (page) => getAuthLogs({ ...page, query: { order: 'desc', ...page.query } }),
    `person_id:${id}`,
  )
  return (
    <Section title={texts.signIns} isFlush>
      <ShortTable
        name={texts.signIns}
        columns={SIGN_IN_COLUMNS}
        list={list}
        rowId={(signIn) => signIn.id}
        empty={texts.noSignIns}
      />
    </Section>
  )
}
