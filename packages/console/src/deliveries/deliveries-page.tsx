/* Every delivery to every stream and webhook, the latest first. */
import { Link, useNavigate } from '@tanstack/react-router'
import { getDeliveries } from '../api/generated/sdk.gen.ts'
import type { OwnedDelivery } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { DELIVERY_COLUMNS, NoDeliveries, pathOf, StateFilter } from './delivery-table.tsx'
import { texts } from './texts.ts'

const toPath = ({ destination: { type, id }, event_id: eventId }: OwnedDelivery) =>
  pathOf({ kind: type === 'webhook' ? 'webhooks' : 'streams', id }, eventId)

const COLUMNS: readonly Column<OwnedDelivery>[] = [
  {
    id: 'event',
    header: texts.event,
    narrow: true,
    width: 'minmax(116px, 1fr)',
    cell: (delivery) => (
      <Link to={toPath(delivery)}>
        <code>{delivery.event_id.slice(0, 13)}…</code>
      </Link>
    ),
  },
  {
    id: 'destination',
    header: texts.destination,
    width: 'minmax(118px, 1.1fr)',
    cell: ({ destination }) => destination.name,
  },
  ...DELIVERY_COLUMNS,
]

export function DeliveriesPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['deliveries', 'list'],
    (page) => getDeliveries({ ...page, query: { order: 'desc', ...page.query } }),
    query,
  )
  return (
    <Page title={texts.title} lead={texts.lead} isFilling>
      <StateFilter search={query} onSearch={search} />
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={(delivery) => void navigate({ to: toPath(delivery) })}
        toolbar={
          <SearchBar path="/deliveries" value={query} fault={list.searchFault} onChange={search} />
        }
        empty={<NoDeliveries isFiltered={query !== ''} />}
      />
    </Page>
  )
}
