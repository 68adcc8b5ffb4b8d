/* The list of webhooks, as their page and the settings for developers show it. */
import { WebhookIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getWebhooks } from '../api/generated/sdk.gen.ts'
import type { Webhook } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'
import { WebhookMenu } from './webhook-actions.tsx'
import { WEBHOOKS_PERMISSION } from './webhook-queries.ts'
import { WebhookState } from './webhook-state.tsx'

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1.1fr)',
    cell: ({ id, name }) => (
      <Link to="/signals/webhooks/$webhookId" params={{ webhookId: id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '92px',
    cell: (webhook) => <WebhookState webhook={webhook} isPlain />,
  },
  { id: 'url', header: texts.url, width: 'minmax(180px, 1.6fr)', cell: ({ url }) => url },
  {
    id: 'events',
    header: texts.events,
    width: '84px',
    cell: ({ events }) => texts.eventCount(events.length),
  },
  {
    id: 'waiting',
    header: texts.waiting,
    width: '72px',
    cell: ({ queued_count: queued }) => queued,
  },
  { id: 'dead', header: texts.dead, width: '60px', cell: ({ dead_count: dead }) => dead },
  {
    id: 'success',
    header: texts.lastSuccess,
    width: '116px',
    cell: ({ last_success_at: at }) => <Time at={at} />,
  },
  {
    id: 'actions',
    header: texts.actions,
    narrow: true,
    width: '64px',
    cell: (webhook) => <WebhookMenu webhook={webhook} />,
  },
]

export function WebhooksList() {
  const navigate = useNavigate()
  const list = useList(['webhooks', 'list'], (page) => getWebhooks(page))
  const create = (
    <CreateButton
      may={useMay(WEBHOOKS_PERMISSION)}
      refusal={texts.mayNot}
      onClick={() => void navigate({ to: '/signals/webhooks/new' })}
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
        void navigate({ to: '/signals/webhooks/$webhookId', params: { webhookId: id } })
      }
      actions={create}
      empty={
        <EmptyState icon={WebhookIcon} title={texts.none} action={create}>
          {texts.noneHelp}
        </EmptyState>
      }
    />
  )
}
