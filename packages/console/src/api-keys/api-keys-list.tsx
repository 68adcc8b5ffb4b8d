/* Every API key, and the dialog that creates one. */
import { Button } from '@mantine/core'
import { KeyIcon, PlusIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { getApiKeys } from '../api/generated/sdk.gen.ts'
import type { ApiKey, ApiKeyWithSecret } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { KeyDialog } from './key-dialog.tsx'
import { KeyState } from './key-state.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(160px, 1.4fr)',
    cell: ({ id, name }) => (
      <Link to="/settings/api-keys/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'secret',
    header: texts.secret,
    width: '170px',
    cell: (key) => <code>{key.masked_secret}</code>,
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '100px',
    cell: ({ state }) => <KeyState state={state} />,
  },
  { id: 'responsible', header: texts.responsible, cell: (key) => key.responsible_email ?? '–' },
  {
    id: 'permissions',
    header: texts.permissions,
    width: '130px',
    cell: ({ permissions }) =>
      permissions.length === 0 ? texts.readOnly : texts.permissionCount(permissions.length),
  },
  {
    id: 'used',
    header: texts.lastUsed,
    width: '110px',
    cell: ({ last_used_at: at }) => <Time at={at} />,
  },
  {
    id: 'created',
    header: texts.created,
    width: '110px',
    hidden: true,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  {
    id: 'expires',
    header: texts.expires,
    width: '110px',
    hidden: true,
    cell: ({ expires_at: at }) => <Time at={at} />,
  },
]

export function ApiKeysList() {
  const navigate = useNavigate()
  const mayManage = useMay('Manage API Keys')
  const list = useList(['api_keys', 'list'], (page) => getApiKeys(page))
  const [isCreating, setCreating] = useState(false)
  const [issued, setIssued] = useState<ApiKeyWithSecret>()
  const create = (
    <Button
      leftSection={<PlusIcon />}
      disabled={!mayManage}
      title={mayManage ? undefined : texts.mayNot}
      onClick={() => setCreating(true)}
    >
      {texts.createNew}
    </Button>
  )
  return (
    <>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/settings/api-keys/$id', params: { id } })}
        actions={create}
        empty={
          <EmptyState icon={KeyIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <KeyDialog isOpen={isCreating} onClose={() => setCreating(false)} onIssued={setIssued} />
      <IssuedSecretDialog
        title={texts.issuedTitle(issued?.name ?? '')}
        secrets={issued === undefined ? [] : [{ name: issued.name, value: issued.secret }]}
        isKept
        onClose={() => setIssued(undefined)}
      >
        {texts.issued}
      </IssuedSecretDialog>
    </>
  )
}
