/* The list of streams, as the page of streams and the settings for developers show it. */
import { BroadcastIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getSsfStreams } from '../api/generated/sdk.gen.ts'
import type { Stream } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList, type ListPage } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { StreamMenu } from './stream-actions.tsx'
import { requestsChanges } from './stream-facts.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { StreamStatus } from './stream-status.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Stream>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1.2fr)',
    cell: ({ id, name }) => (
      <Link to="/signals/streams/$streamId" params={{ streamId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'status',
    header: texts.status,
    narrow: true,
    width: '104px',
    cell: ({ status }) => <StreamStatus status={status} isPlain />,
  },
  {
    id: 'delivery-type',
    header: texts.deliveryType,
    width: '108px',
    cell: (stream) => texts.deliveryTypes[stream.delivery_type],
  },
  {
    id: 'url',
    header: texts.url,
    width: 'minmax(180px, 1.6fr)',
    cell: ({ delivery }) => delivery.endpoint_url,
  },
  {
    id: 'spec-version',
    header: texts.specVersion,
    width: '106px',
    cell: (stream) => texts.specVersions[stream.spec_version],
  },
  {
    id: 'events',
    header: texts.eventTypes,
    width: '200px',
    hidden: true,
    cell: (stream) => (requestsChanges(stream) ? texts.eventType : texts.noEvents),
  },
  {
    id: 'updated',
    header: texts.updated,
    width: '112px',
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
  {
    id: 'actions',
    header: texts.actions,
    narrow: true,
    width: '64px',
    cell: (stream) => <StreamMenu stream={stream} />,
  },
]

export function StreamsList() {
  const navigate = useNavigate()
  const list = useList(['ssf_streams', 'list'], async (page) => {
    const { data } = await getSsfStreams(page)
    return { data: data as ListPage<Stream> }
  })
  const create = (
    <CreateButton
      may={useMay(STREAMS_PERMISSION)}
      refusal={texts.mayNot}
      onClick={() => void navigate({ to: '/signals/streams/new' })}
    >
      {texts.create}
    </CreateButton>
  )
  return (
    <DataTable
      name={texts.title}
      columns={COLUMNS}
      list={list}
      rowId={({ id }) => id}
      onOpen={({ id }) =>
        void navigate({ to: '/signals/streams/$streamId', params: { streamId: id } })
      }
      actions={create}
      empty={
        <EmptyState icon={BroadcastIcon} title={texts.none} action={create}>
          {texts.noneHelp}
        </EmptyState>
      }
    />
  )
}
