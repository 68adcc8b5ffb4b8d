/* The OAuth clients of receivers that manage their own streams. */
import { ServerIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getSsfClients } from '../api/generated/sdk.gen.ts'
import type { SsfClient } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from '../streams/stream-queries.ts'
import { SsfClientState } from './ssf-client-state.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<SsfClient>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1.2fr)',
    cell: ({ id, name }) => (
      <Link to="/signals/clients/$clientId" params={{ clientId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '104px',
    cell: (client) => <SsfClientState client={client} isPlain />,
  },
  {
    id: 'client-id',
    header: texts.clientId,
    width: 'minmax(200px, 1.4fr)',
    cell: ({ client_id: clientId }) => <Copyable value={clientId} />,
  },
  {
    id: 'method',
    header: texts.method,
    width: '100px',
    cell: (client) => texts.methods[client.authentication_method],
  },
  { id: 'scopes', header: texts.scopes, width: '170px', cell: ({ scopes }) => scopes.join(' ') },
  {
    id: 'used',
    header: texts.lastUsed,
    width: '112px',
    cell: ({ last_used_at: at }) => <Time at={at} />,
  },
]

export function SsfClientsPage() {
  const navigate = useNavigate()
  const list = useList(['ssf_clients', 'list'], (page) => getSsfClients(page))
  const create = (
    <CreateButton
      may={useMay(STREAMS_PERMISSION)}
      refusal={texts.mayNot}
      onClick={() => void navigate({ to: '/signals/clients/new' })}
    >
      {texts.create}
    </CreateButton>
  )
  return (
    <Page title={texts.title} lead={texts.lead} isFilling>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) =>
          void navigate({ to: '/signals/clients/$clientId', params: { clientId: id } })
        }
        actions={create}
        empty={
          <EmptyState icon={ServerIcon} title={texts.none} action={create}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
