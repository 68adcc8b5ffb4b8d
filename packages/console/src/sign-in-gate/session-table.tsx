/* Granted sessions, each of which can be ended. */
import { KeyIcon } from '@primer/octicons-react'
import { deleteSignInSessionsById, getSignInSessions } from '../api/generated/sdk.gen.ts'
import type { ListedSignInSession } from '../api/generated/types.gen.ts'
import { personColumn } from '../kit/person-column.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useRowEnding } from './row-ending.tsx'
import { isSessionOver, SessionEnd } from './session-end.tsx'
import { texts } from './texts.ts'

const { sessions: words } = texts

interface SessionTableProps {
  /** Of one application only; of all when left out. */
  readonly applicationId?: string
  /** Those as well that are over. */
  readonly showsEnded?: boolean
}

export function SessionTable({ applicationId, showsEnded = false }: SessionTableProps) {
  const chosen = {
    ...(applicationId === undefined ? {} : { application_id: applicationId }),
    ...(showsEnded ? {} : { live: 'true' as const }),
  }
  const list = useList<ListedSignInSession>(
    ['sign_in_sessions', 'list', applicationId ?? '', showsEnded],
    ({ query, ...options }) => getSignInSessions({ ...options, query: { ...query, ...chosen } }),
  )
  const ending = useRowEnding<ListedSignInSession>({
    words,
    nameOf: ({ person_email: email }) => email,
    isOver: isSessionOver,
    run: (id) => deleteSignInSessionsById({ path: { id }, throwOnError: true }),
    changes: [['sign_in_sessions']],
  })
  return (
    <>
      <ShortTable
        name={texts.tabs.sessions}
        columns={[
          ...COLUMNS.filter(({ id }) => applicationId === undefined || id !== 'application'),
          ending.column,
        ]}
        list={list}
        rowId={({ id }) => id}
        empty={
          <EmptyState icon={KeyIcon} title={words.none}>
            {words.noneHelp}
          </EmptyState>
        }
      />
      {ending.dialog}
    </>
  )
}

const COLUMNS: readonly Column<ListedSignInSession>[] = [
  personColumn(words.person),
  {
    id: 'application',
    header: words.application,
    cell: ({ application_name: name }) => name ?? words.ownPages,
  },
  {
    id: 'device',
    header: words.device,
    cell: ({ device_id: id, device_name: name }) =>
      id === null ? (
        words.noDevice
      ) : (
        <RecordLink kind="device" id={id}>
          {name ?? id}
        </RecordLink>
      ),
  },
  {
    id: 'assurance',
    header: words.assurance,
    cell: ({ assurance }) =>
      assurance === 'none' ? (
        <StateBadge tone="warn" isPlain>
          {words.breakGlass}
        </StateBadge>
      ) : (
        texts.assurances[assurance]
      ),
  },
  { id: 'granted', header: words.granted, cell: ({ granted_at: at }) => <Time at={at} /> },
  {
    id: 'ends',
    header: words.ends,
    narrow: true,
    cell: (session) => <SessionEnd session={session} />,
  },
]
