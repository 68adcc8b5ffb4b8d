/* One group of people. */
import { PersonIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { getPersonGroupsById, getPersonGroupsByIdPeople } from '../api/generated/sdk.gen.ts'
import type { Person, PersonGroup } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { texts } from './texts.ts'

const ABOVE = [
  { label: texts.title, to: '/groups' },
  { label: texts.ofPeople, to: '/groups/people' },
]

const COLUMNS: readonly Column<Person>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    cell: ({ id, name }) => (
      <RecordLink kind="person" id={id}>
        {name}
      </RecordLink>
    ),
  },
  { id: 'email', header: texts.email, narrow: true, cell: ({ email }) => email },
  {
    id: 'authenticated',
    header: texts.lastSignIn,
    width: '130px',
    cell: ({ last_authenticated_at: at }) => <Time at={at} />,
  },
]

export function PersonGroupPage() {
  const { id } = useParams({ from: '/frame/groups/people/$id' })
  const query = useQuery({
    queryKey: ['person_groups', id],
    queryFn: async ({ signal }) =>
      (await getPersonGroupsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <LoadedPage query={query} title={texts.ofPeople} above={ABOVE}>
      {(group) => <GroupOfPeople group={group} />}
    </LoadedPage>
  )
}

function GroupOfPeople({ group: { id, name } }: { readonly group: PersonGroup }) {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['people', 'list', 'group', id],
    (page) => getPersonGroupsByIdPeople({ ...page, path: { id } }),
    query,
  )
  return (
    <Page title={name} above={ABOVE} lead={texts.peopleLead} isFilling>
      <DataTable
        name={texts.people}
        columns={COLUMNS}
        list={list}
        rowId={(person) => person.id}
        onOpen={(person) => void navigate({ to: '/people/$id', params: { id: person.id } })}
        toolbar={
          <SearchBar
            path="/person_groups/{id}/people"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={PersonIcon} title={texts.noPeople}>
            {texts.noPeopleHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
