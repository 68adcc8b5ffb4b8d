/* Granted sessions, each of which can be ended. */
import { Button } from '@mantine/core'
import { KeyIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { deleteSignInSessionsById, getSignInSessions } from '../api/generated/sdk.gen.ts'
import type { ListedSignInSession } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { MANAGE_PERMISSION } from './gate-queries.ts'
import { texts } from './texts.ts'

const { sessions: words } = texts

interface SessionTableProps {
  /** Of one application only; of all when left out. */
  readonly applicationId?: string
  /** Those as well that are over. */
  readonly showsEnded?: boolean
}

export function SessionTable({ applicationId, showsEnded = false }: SessionTableProps) {
  const may = useMay(MANAGE_PERMISSION)
  const [ending, setEnding] = useState<ListedSignInSession>()
  const chosen = {
    ...(applicationId === undefined ? {} : { application_id: applicationId }),
    ...(showsEnded ? {} : { live: 'true' as const }),
  }
  const list = useList<ListedSignInSession>(
    ['sign_in_sessions', 'list', applicationId ?? '', showsEnded],
    ({ query, ...options }) => getSignInSessions({ ...options, query: { ...query, ...chosen } }),
  )
  const columns = [
    ...COLUMNS.filter(({ id }) => applicationId === undefined || id !== 'application'),
    {
      id: 'end',
      header: '',
      narrow: true,
      cell: (session: ListedSignInSession) =>
        session.ended_at === null ? (
          <Button
            variant="default"
            size="compact-sm"
            disabled={!may}
            title={may ? undefined : texts.mayNot}
            aria-label={words.endOf(session.person_email)}
            onClick={() => setEnding(session)}
          >
            {words.end}
          </Button>
        ) : null,
    },
  ]
  return (
    <>
      <ShortTable
        name={texts.tabs.sessions}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        empty={
          <EmptyState icon={KeyIcon} title={words.none}>
            {words.noneHelp}
          </EmptyState>
        }
      />
      <EndDialog session={ending} onClose={() => setEnding(undefined)} />
    </>
  )
}

const COLUMNS: readonly Column<ListedSignInSession>[] = [
  {
    id: 'person',
    header: words.person,
    narrow: true,
    cell: ({ person_id: id, person_email: email }) => (
      <RecordLink kind="person" id={id}>
        {email}
      </RecordLink>
    ),
  },
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
    cell: ({ ended_at: ended, end_reason: reason, expires_at: expires }) =>
      ended === null ? (
        <Time at={expires} />
      ) : (
        <>
          <Time at={ended} /> {reason === null ? '' : words.reasons[reason]}
        </>
      ),
  },
]

interface EndDialogProps {
  readonly session: ListedSignInSession | undefined
  readonly onClose: () => void
}

function EndDialog({ session, onClose }: EndDialogProps) {
  const end = useAction({
    run: (id: string) => deleteSignInSessionsById({ path: { id }, throwOnError: true }),
    done: words.ended,
    changes: [['sign_in_sessions']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={session !== undefined}
      title={words.endTitle(session?.person_email ?? '')}
      label={words.endLabel}
      isDanger
      isPending={end.isPending}
      error={end.error}
      onConfirm={() => session !== undefined && end.mutate(session.id)}
      onClose={onClose}
    >
      {words.endHelp}
    </ConfirmDialog>
  )
}
