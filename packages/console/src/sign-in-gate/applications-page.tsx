/* Who sends people here to sign in. */
import { SignInIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getSignInApplications } from '../api/generated/sdk.gen.ts'
import type { SignInApplication } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { ApplicationState } from './application-state.tsx'
import { GatePage } from './gate-page.tsx'
import { APPLICATIONS_PATH, MANAGE_PERMISSION } from './gate-queries.ts'
import { guideOf } from './guides/guides.ts'
import { texts } from './texts.ts'

const { applications: words } = texts

const COLUMNS: readonly Column<SignInApplication>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1.2fr)',
    cell: ({ id, name }) => (
      <Link to="/settings/sign-in/applications/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: words.state,
    narrow: true,
    width: '110px',
    cell: (application) => <ApplicationState application={application} isPlain />,
  },
  {
    id: 'by',
    header: words.by,
    width: 'minmax(150px, 1fr)',
    cell: (application) => guideOf(application)?.name ?? words.kinds[application.kind],
  },
  {
    id: 'assurance',
    header: words.assurance,
    width: 'minmax(150px, 1fr)',
    cell: ({ minimum_assurance: assurance }) => texts.assurances[assurance],
  },
  {
    id: 'client-id',
    header: texts.clientId,
    width: 'minmax(180px, 1.2fr)',
    cell: ({ client_id: clientId }) => <Copyable value={clientId} />,
  },
  {
    id: 'created',
    header: words.created,
    width: '112px',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

export function ApplicationsPage() {
  const navigate = useNavigate()
  const list = useList(['sign_in_applications', 'list'], (page) => getSignInApplications(page))
  const create = (
    <CreateButton
      may={useMay(MANAGE_PERMISSION)}
      refusal={texts.mayNot}
      onClick={() => void navigate({ to: '/settings/sign-in/new' })}
    >
      {words.create}
    </CreateButton>
  )
  return (
    <GatePage current={APPLICATIONS_PATH} isFilling>
      <DataTable
        name={words.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) =>
          void navigate({ to: '/settings/sign-in/applications/$id', params: { id } })
        }
        actions={create}
        empty={
          <EmptyState icon={SignInIcon} title={words.none} action={create}>
            {words.noneHelp}
          </EmptyState>
        }
      />
    </GatePage>
  )
}
