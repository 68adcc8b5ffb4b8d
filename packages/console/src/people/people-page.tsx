/* All people. */
import { PersonIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getPeople } from '../api/generated/sdk.gen.ts'
import type { Person } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { PeopleTabs } from './people-tabs.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Person>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    cell: ({ id, name }) => (
      <Link to="/people/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { id: 'email', header: texts.email, narrow: true, cell: ({ email }) => email },
  {
    id: 'device',
    header: texts.registered,
    width: '130px',
    cell: ({ has_registered_device: has }) => (
      <StateBadge tone={has ? 'good' : 'unknown'} isPlain>
        {has ? texts.hasDevice : texts.noDevice}
      </StateBadge>
    ),
  },
  {
    id: 'authenticated',
    header: texts.lastSignIn,
    width: '130px',
    cell: ({ last_authenticated_at: at }) => <Time at={at} />,
  },
  {
    id: 'created',
    header: texts.created,
    width: '130px',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

export function PeoplePage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(['people', 'list'], (page) => getPeople(page), query)
  return (
    <Page title={texts.title} isFilling>
      <PeopleTabs current="/people" />
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/people/$id', params: { id } })}
        toolbar={
          <SearchBar path="/people" value={query} fault={list.searchFault} onChange={search} />
        }
        empty={
          <EmptyState icon={PersonIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
