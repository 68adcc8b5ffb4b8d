/* All devices. */
import { DeviceDesktopIcon } from '@primer/octicons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { getDevices } from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { QuickFilters, type QuickFilter } from '../kit/quick-filters.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import { useList } from '../kit/use-list.ts'
import { PersonName } from './person-name.tsx'
import { texts } from './texts.ts'

export const DEVICE_COLUMNS: readonly Column<Device>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(180px, 1.5fr)',
    cell: ({ id, name }) => (
      <Link to="/devices/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '112px',
    cell: ({ auth_state: state }) => <DeviceState state={state} />,
  },
  {
    id: 'owner',
    header: texts.owner,
    width: 'minmax(120px, 1fr)',
    cell: ({ registered_owner_info: owner }) => <PersonName link={owner} />,
  },
  {
    id: 'platform',
    header: texts.platform,
    width: '84px',
    cell: ({ device_type: type }) => type,
  },
  {
    id: 'os',
    header: texts.system,
    width: 'minmax(120px, 0.9fr)',
    cell: ({ operating_system: system }) => system,
  },
  {
    id: 'block',
    header: texts.willBlock,
    width: '110px',
    cell: ({ will_block_at: at }) => <Time at={at} absent="" />,
  },
  {
    id: 'seen',
    header: texts.lastSeen,
    width: '110px',
    cell: ({ last_seen_at: at }) => <Time at={at} />,
  },
  {
    id: 'authenticated',
    header: texts.lastSignIn,
    width: '110px',
    hidden: true,
    cell: ({ last_authenticated_at: at }) => <Time at={at} />,
  },
  {
    id: 'serial',
    header: texts.serial,
    width: '140px',
    cell: ({ serial }) => serial,
  },
  {
    id: 'model',
    header: texts.model,
    hidden: true,
    cell: ({ hardware_model: model }) => model,
  },
]

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
          <SearchBar
            path="/devices"
            value={query}
            fault={list.error?.message}
            onChange={search}
          />
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
