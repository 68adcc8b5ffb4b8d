/* What happened while a webhook asked for it, sent or not. */
import { BroadcastIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getWebhookEvents } from '../api/generated/sdk.gen.ts'
import type { WebhookEvent } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { texts } from './texts.ts'

const { eventsTab: words } = texts

const columnsOf = (id: string): readonly Column<WebhookEvent>[] => [
  {
    id: 'type',
    header: words.type,
    narrow: true,
    width: 'minmax(160px, 1.2fr)',
    cell: ({ id: eventId, event }) => (
      <Link
        to="/signals/deliveries/$kind/$ownerId/$eventId"
        params={{ kind: 'webhooks', ownerId: id, eventId }}
      >
        {event}
      </Link>
    ),
  },
  {
    id: 'about',
    header: words.about,
    width: 'minmax(120px, 1fr)',
    cell: ({ object_type: type, object_id: about }) =>
      type === null ? '–' : `${type} ${about ?? ''}`,
  },
  {
    id: 'event',
    header: words.id,
    width: 'minmax(220px, 1.2fr)',
    cell: ({ id: eventId }) => <code>{eventId}</code>,
  },
  {
    id: 'at',
    header: words.at,
    narrow: true,
    width: '110px',
    cell: ({ timestamp }) => <Time at={timestamp} />,
  },
]

export function WebhookEventsTab({ id }: { readonly id: string }) {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['deliveries', 'list', 'webhook-events'],
    (page) => getWebhookEvents({ ...page, query: { order: 'desc', ...page.query } }),
    query,
  )
  return (
    <DataTable
      name={words.title}
      columns={columnsOf(id)}
      list={list}
      rowId={(event) => event.id}
      onOpen={({ id: eventId }) =>
        void navigate({
          to: '/signals/deliveries/$kind/$ownerId/$eventId',
          params: { kind: 'webhooks', ownerId: id, eventId },
        })
      }
      toolbar={
        <SearchBar
          path="/webhook_events"
          value={query}
          fault={list.searchFault}
          onChange={search}
        />
      }
      empty={
        <EmptyState icon={BroadcastIcon} title={words.none}>
          {words.noneHelp}
        </EmptyState>
      }
    />
  )
}
