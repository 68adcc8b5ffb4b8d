/* All live queries, drafts among them. */
import { TerminalIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getLiveQueryCampaigns } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { CreateButton } from '../kit/create-button.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { QuickFilters, type QuickFilter } from '../kit/quick-filters.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { AnswerBar } from './answer-bar.tsx'
import { CampaignState } from './campaign-state.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<LiveQueryCampaign>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(160px, 1.4fr)',
    cell: ({ id, name }) => (
      <Link to="/live-queries/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '110px',
    cell: (campaign) => <CampaignState campaign={campaign} />,
  },
  {
    id: 'answers',
    header: texts.answered,
    width: '200px',
    cell: (campaign) => <AnswerBar campaign={campaign} />,
  },
  {
    id: 'tables',
    header: texts.tables,
    cell: ({ tables_used: tables }) => tables.join(', '),
  },
  {
    id: 'asked',
    header: texts.asked,
    width: '120px',
    cell: ({ asked_at: at }) => <Time at={at} />,
  },
  {
    id: 'created',
    header: texts.created,
    width: '120px',
    hidden: true,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

const FILTERS: readonly QuickFilter[] = [
  { group: 'published', label: texts.running, clause: 'published:true' },
  { group: 'published', label: texts.drafts, clause: 'published:false' },
]

export function LiveQueriesPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const may = useMay('Create Live Query')
  const list = useList(
    ['live_query_campaigns', 'list'],
    (page) => getLiveQueryCampaigns(page),
    query,
  )
  const create = (
    <CreateButton
      may={may}
      refusal={texts.askPermission}
      onClick={() => void navigate({ to: '/live-queries/new' })}
    >
      {texts.create}
    </CreateButton>
  )
  return (
    <Page title={texts.title} lead={texts.lead} isFilling actions={create}>
      <QuickFilters filters={FILTERS} value={query} onChange={search} />
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/live-queries/$id', params: { id } })}
        toolbar={
          <SearchBar
            path="/live_query_campaigns"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={TerminalIcon} title={texts.none} action={create}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
