/* What belongs to a person, each in a section of their page. */
import { Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  getAuthLogs,
  getPeopleByIdOpenIssues,
  getPeopleByIdPersonGroups,
  getPeopleByIdRegisteredDevices,
} from '../api/generated/sdk.gen.ts'
import type { AuthLog, Device, PersonGroup } from '../api/generated/types.gen.ts'
import { SignInResult } from '../devices/device-sign-ins.tsx'
import { IssueTable } from '../devices/issue-table.tsx'
import { Section } from '../kit/page.tsx'
import { readAll } from '../kit/read-all.ts'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { BrowserTable } from '../sign-in-gate/browser-table.tsx'
import { EntraTable } from '../sign-in-gate/entra-table.tsx'
import { READ_PERMISSION } from '../sign-in-gate/gate-queries.ts'
import classes from './person-page.module.css'
import { texts } from './texts.ts'

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

export function DevicesOfPerson({ id }: PartProps) {
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

export function IssuesOfPerson({ id }: PartProps) {
  const list = useList(['issues', 'list', 'person', id], (page) =>
    getPeopleByIdOpenIssues({ ...page, path: { id } }),
  )
  return (
    <Section title={texts.issues} isFlush>
      <IssueTable name={texts.issues} list={list} empty={texts.noIssues} />
    </Section>
  )
}

export function GroupsOfPerson({ id }: PartProps) {
  const query = useQuery({
    queryKey: ['person_groups', 'list', 'person', id],
    queryFn: ({ signal }) =>
      readAll<PersonGroup>((page) => getPeopleByIdPersonGroups({ ...page, path: { id } }), signal),
  })
  return (
    <Section title={texts.groups}>
      <Loaded query={query} height={20}>
        {(groups) =>
          groups.length === 0 ? (
            <span className={classes.quiet}>{texts.noGroups}</span>
          ) : (
            <Group gap={6}>
              {groups.map((group) => (
                <Badge key={group.id}>{group.name}</Badge>
              ))}
            </Group>
          )
        }
      </Loaded>
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

export function SignInsOfPerson({ id }: PartProps) {
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

/** What signing in here knows of a person; nothing for those who may not see it. */
export function SignInKnowledgeOfPerson({ id }: PartProps) {
  if (!useMay(READ_PERMISSION)) return null
  return (
    <>
      <Section title={texts.browsers} lead={texts.browsersLead} isFlush>
        <BrowserTable personId={id} />
      </Section>
      <Section title={texts.entra} lead={texts.entraLead} isFlush>
        <EntraTable personId={id} />
      </Section>
    </>
  )
}
