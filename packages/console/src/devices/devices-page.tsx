/* All devices. */
import { DeviceDesktopIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { getDevices } from '../api/generated/sdk.gen.ts'
import { DataTable } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { QuickFilters, type QuickFilter } from '../kit/quick-filters.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { useList } from '../kit/use-list.ts'
import { DEVICE_COLUMNS } from './device-columns.tsx'
import { texts } from './texts.ts'

const FILTERS: readonly QuickFilter[] = [
  { group: 'state', label: 'Blocked', clause: 'auth_state:Blocked' },
  { group: 'state', label: 'Will block', clause: 'auth_state:"Will Block"' },
  { group: 'state', label: 'Notified', clause: 'auth_state:Notified' },
  { group: 'state', label: 'Good', clause: 'auth_state:Good' },
  { group: 'platform', label: 'Mac', clause: 'device_type:Mac' },
  { group: 'platform', label: 'Windows', clause: 'device_type:Windows' },
  { group: 'platform', label: 'Linux', clause: 'device_type:Linux' },
]

export function DevicesPage() {
  const { query = '' } = useSearch({ from: '/frame/devices' })
  const navigate = useNavigate()
  const list = useList(
    ['devices', 'list'],
    (page) => getDevices({ ...page, query: { ...page.query, expand: 'owner' } }),
    query,
  )
  const search = (next: string) =>
    void navigate({ to: '/devices', search: next === '' ? {} : { query: next }, replace: true })
  return (
    <Page title={texts.title} isFilling>
      <QuickFilters filters={FILTERS} value={query} onChange={search} />
      <DataTable
        name={texts.title}
        columns={DEVICE_COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/devices/$id', params: { id } })}
        toolbar={
          <SearchBar path="/devices" value={query} fault={list.searchFault} onChange={search} />
        }
        empty={
          <EmptyState icon={DeviceDesktopIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
