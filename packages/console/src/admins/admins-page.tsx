/* The admins: who they are, how they sign in, and the invitation of one more. */
import { Badge } from '@mantine/core'
import { PeopleIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { getAdminUsers } from '../api/generated/sdk.gen.ts'
import type { AdminUser, InvitedAdminUser } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay, useSession } from '../shell/session.ts'
import { AdminDialogs, type AdminDialog } from './admin-dialogs.tsx'
import { AdminMenu } from './admin-menu.tsx'
import { AdminState, nameOf, waysOf } from './admin-state.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { IssuedLinkDialog } from './issued-link-dialog.tsx'
import { texts } from './texts.ts'

export function AdminsPage() {
  const navigate = useNavigate()
  const mayManage = useMay('Manage Admins')
  const ownId = useSession()?.admin.id
  const list = useList(['admin_users', 'list'], (page) => getAdminUsers(page))
  const [isInviting, setInviting] = useState(false)
  const [issued, setIssued] = useState<InvitedAdminUser>()
  const [open, setOpen] = useState<{ readonly id: string; readonly dialog: AdminDialog }>()
  const columns = useMemo(
    () => columnsOf(ownId, ({ id }, dialog) => setOpen({ id, dialog })),
    [ownId],
  )
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
      actions={
        <CreateButton may={mayManage} refusal={texts.mayNot} onClick={() => setInviting(true)}>
          {texts.invite}
        </CreateButton>
      }
      isFilling
    >
      <DataTable
        name={texts.title}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/settings/admins/$id', params: { id } })}
        empty={
          <EmptyState icon={PeopleIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} onInvited={setIssued} />
      <IssuedLinkDialog issued={issued} onClose={() => setIssued(undefined)} />
      <AdminDialogs
        admin={list.items.find(({ id }) => id === open?.id)}
        dialog={open?.dialog}
        onClose={() => setOpen(undefined)}
      />
    </Page>
  )
}

function columnsOf(
  ownId: string | undefined,
  onChoose: (admin: AdminUser, dialog: AdminDialog) => void,
): Column<AdminUser>[] {
  return [
    {
      id: 'name',
      header: texts.name,
      narrow: true,
      width: 'minmax(140px, 1.2fr)',
      cell: (admin) => (
        <>
          <Link to="/settings/admins/$id" params={{ id: admin.id }}>
            {nameOf(admin)}
          </Link>
          {admin.id === ownId ? (
            <Badge ml={8} size="sm" variant="default">
              {texts.you}
            </Badge>
          ) : null}
        </>
      ),
    },
    {
      id: 'email',
      header: texts.email,
      width: 'minmax(150px, 1.4fr)',
      cell: ({ email }) => email,
    },
    {
      id: 'access',
      header: texts.access,
      width: '96px',
      cell: ({ access }) => texts.levels[access],
    },
    {
      id: 'state',
      header: texts.state,
      narrow: true,
      width: '108px',
      cell: (admin) => <AdminState admin={admin} isPlain />,
    },
    { id: 'ways', header: texts.ways, width: 'minmax(100px, 1fr)', cell: waysOf },
    {
      id: 'signed-in',
      header: texts.lastSignIn,
      width: '92px',
      cell: ({ last_sign_in_at: at }) => <Time at={at} />,
    },
    {
      id: 'invited',
      header: texts.invitedUntil,
      width: '96px',
      cell: ({ invited_until: at }) => <Time at={at} absent="–" />,
    },
    {
      id: 'since',
      header: texts.since,
      width: '92px',
      hidden: true,
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    {
      id: 'actions',
      header: '',
      narrow: true,
      width: '40px',
      cell: (admin) => <AdminMenu admin={admin} onChoose={onChoose} />,
    },
  ]
}
