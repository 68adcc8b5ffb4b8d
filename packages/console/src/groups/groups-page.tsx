/* The groups of devices. */
import { PeopleIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { getDeviceGroups } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { GroupDialog } from './group-dialog.tsx'
import { GroupTabs } from './group-tabs.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<DeviceGroup>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    cell: ({ id, name }) => (
      <Link to="/groups/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'members',
    header: texts.members,
    narrow: true,
    width: '90px',
    cell: ({ members_count: members }) => members,
  },
  {
    id: 'description',
    header: texts.description,
    width: 'minmax(160px, 2fr)',
    cell: ({ description }) => description,
  },
  {
    id: 'created',
    header: texts.created,
    width: '130px',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

export function GroupsPage() {
  const { query, search } = useAddressSearch()
  const [isCreating, setCreating] = useState(false)
  const navigate = useNavigate()
  const may = useMay('Manage Device Groups')
  const list = useList(['device_groups', 'list'], (page) => getDeviceGroups(page), query)
  const create = (
    <CreateButton may={may} refusal={texts.permission} onClick={() => setCreating(true)}>
      {texts.create}
    </CreateButton>
  )
  return (
    <Page title={texts.title} isFilling actions={create}>
      <GroupTabs current="/groups" />
      <DataTable
        name={texts.ofDevices}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/groups/$id', params: { id } })}
        toolbar={
          <SearchBar
            path="/device_groups"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={PeopleIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
      <GroupDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onSaved={({ id }) => void navigate({ to: '/groups/$id', params: { id } })}
      />
    </Page>
  )
}
