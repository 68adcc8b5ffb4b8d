/* The sign-ins with a device. */
import { Stack } from '@mantine/core'
import { getAuthLogs } from '../api/generated/sdk.gen.ts'
import type { AuthLog } from '../api/generated/types.gen.ts'
import { Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { BrowserTable } from '../sign-in-gate/browser-table.tsx'
import { READ_PERMISSION } from '../sign-in-gate/gate-queries.ts'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<AuthLog>[] = [
  {
    id: 'person',
    header: texts.person,
    narrow: true,
    cell: ({ id, person_name: name }) => (
      <RecordLink kind="signIn" id={id}>
        {name}
      </RecordLink>
    ),
  },
  { id: 'at', header: texts.at, narrow: true, cell: ({ timestamp }) => <Time at={timestamp} /> },
  {
    id: 'result',
    header: texts.outcome,
    narrow: true,
    cell: ({ result }) => <SignInResult result={result} />,
  },
  {
    id: 'from',
    header: texts.from,
    cell: ({ city, country, ip_address: address }) =>
      [city, country, address].filter((part) => part !== undefined && part !== null).join(', '),
  },
  {
    id: 'shown',
    header: texts.shown,
    cell: ({ issues_displayed: issues }) => issues.map(({ title }) => title).join(', '),
  },
]

export function DeviceSignIns({ deviceId }: { readonly deviceId: string }) {
  const list = useList(
    ['auth_logs', 'list', 'device', deviceId],
    (page) => getAuthLogs({ ...page, query: { order: 'desc', ...page.query } }),
    `device_id:${deviceId}`,
  )
  const mayReadKeys = useMay(READ_PERMISSION)
  return (
    <Stack gap="md">
      <Section title={texts.signIns} lead={texts.signInsLead} isFlush>
        <ShortTable
          name={texts.signIns}
          columns={COLUMNS}
          list={list}
          rowId={({ id }) => id}
          empty={texts.noSignIns}
        />
      </Section>
      {mayReadKeys ? (
        <Section title={texts.browsers} lead={texts.browsersLead} isFlush>
          <BrowserTable deviceId={deviceId} />
        </Section>
      ) : null}
    </Stack>
  )
}

export function SignInResult({ result }: { readonly result: AuthLog['result'] }) {
  if (result === null)
    return (
      <StateBadge tone="unknown" isPlain>
        {texts.underWay}
      </StateBadge>
    )
  return result === 'Success' ? (
    <StateBadge tone="good" isPlain>
      {texts.success}
    </StateBadge>
  ) : (
    <StateBadge tone="bad" isPlain>
      {texts.fail}
    </StateBadge>
  )
}
