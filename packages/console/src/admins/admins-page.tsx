/* The admins, their access, and their end. */
import { Button, Group } from '@mantine/core'
import { PeopleIcon } from '@primer/octicons-react'
import { useMemo, useState } from 'react'
import { getAdminUsers } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { ChangeAdminDialog } from './change-admin-dialog.tsx'
import { RemoveAdminDialog } from './remove-admin-dialog.tsx'
import { texts } from './texts.ts'

export function AdminsPage() {
  const mayManage = useMay('Manage Admins')
  const list = useList(['admin_users', 'list'], (page) => getAdminUsers(page))
  const [changing, setChanging] = useState<AdminUser>()
  const [removing, setRemoving] = useState<AdminUser>()
  const columns = useMemo(() => columnsOf(mayManage, setChanging, setRemoving), [mayManage])
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
      isFilling
    >
      <DataTable
        name={texts.title}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        {...(mayManage ? { onOpen: setChanging } : {})}
        empty={
          <EmptyState icon={PeopleIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <ChangeAdminDialog admin={changing} onClose={() => setChanging(undefined)} />
      <RemoveAdminDialog
        admin={removing}
        others={list.items.filter(({ id, access }) => id !== removing?.id && access === 'full')}
        onClose={() => setRemoving(undefined)}
      />
    </Page>
  )
}

function columnsOf(
  mayManage: boolean,
  onChange: (admin: AdminUser) => void,
  onRemove: (admin: AdminUser) => void,
): Column<AdminUser>[] {
  return [
    {
      id: 'name',
      header: texts.name,
      narrow: true,
      cell: (admin) => (
        <strong>
          {admin.first_name} {admin.last_name}
        </strong>
      ),
    },
    { id: 'email', header: texts.email, cell: ({ email }) => email },
    {
      id: 'access',
      header: texts.access,
      narrow: true,
      width: '130px',
      cell: ({ access }) => texts.levels[access],
    },
    {
      id: 'since',
      header: texts.since,
      width: '120px',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    {
      id: 'actions',
      header: '',
      width: '150px',
      cell: (admin) =>
        mayManage ? (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Button size="compact-xs" variant="subtle" onClick={() => onChange(admin)}>
              {texts.change}
            </Button>
            <Button size="compact-xs" variant="subtle" onClick={() => onRemove(admin)}>
              {texts.remove}
            </Button>
          </Group>
        ) : null,
    },
  ]
}
