/* All devices. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { DeviceDesktopIcon } from '@primer/octicons-react'
import { getDevices } from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import { useList } from '../kit/use-list.ts'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Device>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(180px, 1.6fr)',
    cell: ({ name }) => <Link to="/devices">{name}</Link>,
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '120px',
    cell: ({ auth_state: state }) => <DeviceState state={state} />,
  },
  { id: 'os', header: texts.system, cell: (device) => device.operating_system },
  { id: 'serial', header: texts.serial, width: '150px', cell: ({ serial }) => serial },
  {
    id: 'seen',
    header: texts.lastSeen,
    width: '120px',
    cell: ({ last_seen_at: at }) => <Time at={at} />,
  },
]

export function DevicesPage() {
  const { query = '' } = useSearch({ from: '/frame/devices' })
  const navigate = useNavigate()
  const list = useList(['devices', 'list'], (page) => getDevices(page), query)
  return (
    <Page title={texts.title} isFilling>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={() => undefined}
        toolbar={
          <SearchBar
            path="/devices"
            value={query}
            fault={list.error?.message}
            onChange={(search) =>
              void navigate({
                to: '/devices',
                search: search === '' ? {} : { query: search },
                replace: true,
              })
            }
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
