/* The groups of people. */
import { PeopleIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getPersonGroups } from '../api/generated/sdk.gen.ts'
import type { PersonGroup } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { GroupTabs } from './group-tabs.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<PersonGroup>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    cell: ({ id, name }) => (
      <Link to="/groups/people/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { id: 'id', header: 'Id', width: '160px', cell: ({ id }) => <Copyable value={id} /> },
]

export function PersonGroupsPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(['person_groups', 'list'], (page) => getPersonGroups(page), query)
  return (
    <Page title={texts.title} isFilling>
      <GroupTabs current="/groups/people" />
      <DataTable
        name={texts.ofPeople}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/groups/people/$id', params: { id } })}
        toolbar={
          <SearchBar
            path="/person_groups"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={PeopleIcon} title={texts.nonePeople}>
            {texts.nonePeopleHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
