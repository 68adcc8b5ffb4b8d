/* What was changed, by whom: the newest first, with how far the chain is signed. */
import { LogIcon, VerifiedIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { getAuditLogs } from '../api/generated/sdk.gen.ts'
import type { AuditLog } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { formatCount } from '../kit/figures.ts'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { checkpointQuery } from './checkpoint-query.ts'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<AuditLog>[] = [
  {
    id: 'what',
    header: texts.what,
    narrow: true,
    width: 'minmax(200px, 2.4fr)',
    cell: ({ id, description }) => (
      <Link to="/audit-log/$id" params={{ id }}>
        {description}
      </Link>
    ),
  },
  {
    id: 'who',
    header: texts.who,
    width: 'minmax(140px, 1fr)',
    cell: ({ actor_name: name, actor_info: { actor_type: type } }) =>
      `${name} · ${texts.kinds[type]}`,
  },
  {
    id: 'action',
    header: texts.action,
    width: 'minmax(140px, 1fr)',
    cell: ({ action }) => <code>{action}</code>,
  },
  {
    id: 'target',
    header: texts.target,
    hidden: true,
    cell: ({ target }) => (target === null ? '–' : `${target.type} ${target.identifier}`),
  },
  {
    id: 'at',
    header: texts.at,
    narrow: true,
    width: '104px',
    cell: ({ timestamp: at }) => <Time at={at} />,
  },
]

export function AuditLogPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['audit_logs', 'list'],
    ({ query: page, ...request }) =>
      getAuditLogs({ ...request, query: { order: 'desc', ...page } }),
    query,
  )
  return (
    <Page title={texts.title} badge={<Checkpoint />} isFilling>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/audit-log/$id', params: { id } })}
        toolbar={
          <SearchBar path="/audit_logs" value={query} fault={list.searchFault} onChange={search} />
        }
        empty={
          <EmptyState icon={LogIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}

function Checkpoint() {
  const { data } = useQuery(checkpointQuery)
  if (data === undefined) return null
  return data === null ? (
    <StateBadge tone="unknown">{texts.noCheckpoint}</StateBadge>
  ) : (
    <StateBadge tone="good" icon={VerifiedIcon}>
      {texts.covers(formatCount(data.size))}
    </StateBadge>
  )
}
