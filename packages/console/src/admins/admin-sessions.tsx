/* Where an admin is signed in, and the end of that. */
import { Button, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { deleteAdminSessionsById, getAdminSessions } from '../api/generated/sdk.gen.ts'
import type { AdminSession, AdminUser } from '../api/generated/types.gen.ts'
import { browserOf } from '../kit/browser-name.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { PAGE_SIZE } from '../kit/list-page.ts'
import { Section } from '../kit/page.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useMay, useSession } from '../shell/session.ts'
import { nameOf } from './admin-state.tsx'
import { texts } from './texts.ts'

export function AdminSessions({ admin }: { readonly admin: AdminUser }) {
  return useMay('Manage Admins') ? (
    <ListedSessions admin={admin} />
  ) : (
    <Section title={texts.sessions}>
      <Text size="sm" c="dimmed">
        {texts.mayNot}
      </Text>
    </Section>
  )
}

function ListedSessions({ admin }: { readonly admin: AdminUser }) {
  const session = useSession()
  const ownId = session?.id
  const [isEndingAll, setEndingAll] = useState(false)
  const list = useList(['admin_sessions', 'of', admin.id], (page) =>
    getAdminSessions({ ...page, query: { ...page.query, admin_id: admin.id } }),
  )
  const end = useAction({
    run: (id: string) => deleteAdminSessionsById({ path: { id }, throwOnError: true }),
    done: texts.sessionEnded,
    changes: [['admin_sessions'], ['session', 'sessions']],
  })

  const endedId = end.isPending ? end.variables : undefined
  const columns = useMemo(() => columnsOf(ownId, endedId, (id) => end.mutate(id)), [ownId, endedId])
  const isAnotherOpen = list.items.some(({ id }) => id !== ownId)
  return (
    <Section
      title={texts.sessions}
      lead={texts.sessionsLead}
      isFlush
      actions={
        <Button
          variant="default"
          disabled={!isAnotherOpen}
          title={isAnotherOpen ? undefined : texts.noSessions}
          onClick={() => setEndingAll(true)}
        >
          {texts.endAll}
        </Button>
      }
    >
      <ShortTable
        name={texts.sessions}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        empty={texts.noSessions}
      />
      <ActionDialog
        isOpen={isEndingAll}
        title={texts.endAllTitle(nameOf(admin))}
        label={texts.endAllLabel}
        isDanger
        run={() => endSessions(admin.id, ownId)}
        done={texts.allEnded}
        changes={[['admin_sessions'], ['session', 'sessions']]}
        onClose={() => setEndingAll(false)}
      >
        {session?.admin.id === admin.id ? texts.endOthersHelp : texts.endAllHelp}
      </ActionDialog>
    </Section>
  )
}

/** Ends every session of an admin but one's own; answers how many. */
async function endSessions(adminId: string, ownId: string | undefined): Promise<number> {
  let ended = 0
  let cursor: string | undefined
  do {
    const at = cursor === undefined ? {} : { cursor }
    const query = { admin_id: adminId, per_page: PAGE_SIZE, ...at }
    const { data: page } = await getAdminSessions({ query, throwOnError: true })
    for (const { id } of page.data) {
      if (id !== ownId && (await endSession(id))) ended += 1
    }
    cursor = page.pagination.next_cursor === '' ? undefined : page.pagination.next_cursor
  } while (cursor !== undefined)
  return ended
}

/** Whether it was still there: it may have ended meanwhile. */
async function endSession(id: string): Promise<boolean> {
  try {
    await deleteAdminSessionsById({ path: { id }, throwOnError: true })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false
    throw error
  }
}

function columnsOf(
  ownId: string | undefined,
  endedId: string | undefined,
  onEnd: (id: string) => void,
): Column<AdminSession>[] {
  return [
    {
      id: 'browser',
      header: texts.browser,
      narrow: true,
      cell: ({ user_agent: agent }) => browserOf(agent),
    },
    {
      id: 'actions',
      header: '',
      narrow: true,
      width: '110px',
      cell: ({ id }) =>
        id === ownId ? (
          texts.thisSession
        ) : (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={endedId === id}
            onClick={() => onEnd(id)}
          >
            {texts.end}
          </Button>
        ),
    },
    {
      id: 'method',
      header: texts.method,
      cell: ({ method }) => texts.methods[method],
    },
    { id: 'address', header: texts.address, cell: ({ ip_address: ip }) => ip ?? '–' },
    { id: 'since', header: texts.since, cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'used', header: texts.lastUsed, cell: ({ last_used_at: at }) => <Time at={at} /> },
    { id: 'ends', header: texts.ends, cell: ({ ends_at: at }) => <Time at={at} isExact /> },
  ]
}
