/* The deliveries of one stream or webhook, or of all of them. */
import { SegmentedControl } from '@mantine/core'
import { PaperAirplaneIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getSsfStreamsByIdDeliveries, getWebhooksByIdDeliveries } from '../api/generated/sdk.gen.ts'
import type { Delivery } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList, type ReadPage } from '../kit/use-list.ts'
import classes from './delivery-table.module.css'
import { DeliveryState } from './delivery-state.tsx'
import { shortType } from './short-type.ts'
import { texts } from './texts.ts'

/** Whose deliveries. */
export interface DeliveryOwner {
  readonly kind: 'streams' | 'webhooks'
  readonly id: string
}

const STATES = ['queued', 'dead', 'delivered', 'discarded'] as const
const ONLY_STATE = /^state:(queued|dead|delivered|discarded)$/

export function DeliveryTable({ owner }: { readonly owner: DeliveryOwner }) {
  const { query: searched, search } = useAddressSearch()
  const navigate = useNavigate()
  const { kind, id } = owner
  const read: ReadPage<Delivery> =
    kind === 'streams'
      ? ({ query, ...rest }) =>
          getSsfStreamsByIdDeliveries({ ...rest, query: { order: 'desc', ...query }, path: { id } })
      : ({ query, ...rest }) =>
          getWebhooksByIdDeliveries({ ...rest, query: { order: 'desc', ...query }, path: { id } })
  const list = useList(['deliveries', 'list', kind, id], read, searched)
  return (
    <>
      <StateFilter search={searched} onSearch={search} />
      <DataTable
        name={texts.title}
        columns={columnsOf(owner)}
        list={list}
        rowId={({ event_id: eventId }) => eventId}
        onOpen={({ event_id: eventId }) => void navigate({ to: pathOf(owner, eventId) })}
        toolbar={
          <SearchBar
            path={kind === 'streams' ? '/ssf_streams/{id}/deliveries' : '/webhooks/{id}/deliveries'}
            value={searched}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={<NoDeliveries isFiltered={searched !== ''} />}
      />
    </>
  )
}

/** The page of a delivery. */
export function pathOf({ kind, id }: DeliveryOwner, eventId: string): string {
  return `/signals/deliveries/${kind}/${id}/${encodeURIComponent(eventId)}`
}

export function NoDeliveries({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <EmptyState icon={PaperAirplaneIcon} title={isFiltered ? texts.noneFound : texts.none}>
      {isFiltered ? texts.noneFoundHelp : texts.noneHelp}
    </EmptyState>
  )
}

interface StateFilterProps {
  readonly search: string
  readonly onSearch: (search: string) => void
}

/** The states by a click. A search of more than a state is none of them. */
export function StateFilter({ search, onSearch }: StateFilterProps) {
  const state = ONLY_STATE.exec(search)?.[1] ?? (search === '' ? 'any' : '')
  return (
    <div className={classes.filter}>
      <SegmentedControl
        size="xs"
        aria-label={texts.filterByState}
        data={[
          { value: 'any', label: texts.anyState },
          ...STATES.map((value) => ({ value, label: texts.states[value] })),
        ]}
        value={state}
        onChange={(next) => onSearch(next === 'any' ? '' : `state:${next}`)}
      />
    </div>
  )
}

const columnsOf = (owner: DeliveryOwner): readonly Column<Delivery>[] => [
  {
    id: 'event',
    header: texts.event,
    narrow: true,
    width: 'minmax(116px, 1fr)',
    cell: ({ event_id: eventId }) => (
      <Link to={pathOf(owner, eventId)}>
        <code>{eventId.slice(0, 13)}…</code>
      </Link>
    ),
  },
  ...DELIVERY_COLUMNS,
]

/** What is shown of deliveries, whosever they are. */
export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '104px',
    cell: (delivery) => <DeliveryState delivery={delivery} isPlain />,
  },
  {
    id: 'type',
    header: texts.eventType,
    width: 'minmax(152px, 1.2fr)',
    cell: ({ event_type: type }) => shortType(type),
  },
  {
    id: 'attempts',
    header: texts.attempts,
    width: '66px',
    cell: ({ attempts }) => attempts,
  },
  {
    id: 'error',
    header: texts.error,
    width: 'minmax(100px, 1.4fr)',
    cell: ({ last_error: error }) => error ?? '–',
  },
  {
    id: 'queued',
    header: texts.queuedAt,
    narrow: true,
    width: '92px',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  {
    id: 'next',
    header: texts.next,
    width: '92px',
    cell: ({ next_attempt_at: at }) => <Time at={at} absent="–" />,
  },
  {
    id: 'finished',
    header: texts.finishedAt,
    width: '92px',
    hidden: true,
    cell: ({ finished_at: at }) => <Time at={at} absent="–" />,
  },
  {
    id: 'device',
    header: texts.device,
    width: '90px',
    hidden: true,
    cell: ({ device_id: id }) => id ?? '–',
  },
]
