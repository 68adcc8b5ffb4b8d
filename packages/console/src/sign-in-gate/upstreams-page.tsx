/* The providers by which people are known who come from an application that does not say who they are. */
import { ShieldLockIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getSignInUpstreamProviders } from '../api/generated/sdk.gen.ts'
import type { SignInUpstreamProvider } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { GatePage } from './gate-page.tsx'
import { MANAGE_PERMISSION } from './gate-queries.ts'
import { texts } from './texts.ts'

const { upstreams: words } = texts

const COLUMNS: readonly Column<SignInUpstreamProvider>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1fr)',
    cell: ({ id, name }) => (
      <Link to="/settings/sign-in/upstream-providers/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'issuer',
    header: words.issuer,
    narrow: true,
    width: 'minmax(180px, 1.6fr)',
    cell: ({ issuer }) => <Copyable value={issuer} />,
  },
  {
    id: 'client',
    header: texts.clientId,
    width: 'minmax(140px, 1fr)',
    cell: ({ client_id: id }) => <Copyable value={id} />,
  },
  { id: 'scopes', header: words.scopes, width: '180px', cell: ({ scopes }) => scopes.join(' ') },
  {
    id: 'updated',
    header: words.updated,
    width: '112px',
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
]

export function UpstreamsPage() {
  const navigate = useNavigate()
  const list = useList(['sign_in_upstream_providers', 'list'], (page) =>
    getSignInUpstreamProviders(page),
  )
  const create = (
    <CreateButton
      may={useMay(MANAGE_PERMISSION)}
      refusal={texts.mayNot}
      onClick={() => void navigate({ to: '/settings/sign-in/upstream-providers/new' })}
    >
      {words.create}
    </CreateButton>
  )
  return (
    <GatePage current="/settings/sign-in/upstream-providers" isFilling>
      <DataTable
        name={words.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) =>
          void navigate({ to: '/settings/sign-in/upstream-providers/$id', params: { id } })
        }
        actions={create}
        empty={
          <EmptyState icon={ShieldLockIcon} title={words.none} action={create}>
            {words.noneHelp}
          </EmptyState>
        }
      />
    </GatePage>
  )
}
