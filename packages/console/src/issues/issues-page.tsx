/* All issues, the newest first: open ones, until others are asked for. */
import { IssueOpenedIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getIssues } from '../api/generated/sdk.gen.ts'
import type { Issue } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { SearchSwitch } from '../kit/search-switch.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { IssueState } from './issue-state.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Issue>[] = [
  {
    id: 'title',
    header: texts.issue,
    narrow: true,
    width: 'minmax(180px, 1.6fr)',
    cell: ({ id, title }) => (
      <Link to="/issues/$id" params={{ id }}>
        {title}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '100px',
    cell: (issue) => <IssueState issue={issue} />,
  },
  {
    id: 'about',
    header: texts.about,
    cell: ({ device_information: { identifier, record } }) =>
      identifier === '' ? (
        '–'
      ) : (
        <ListLink to={`/devices/${identifier}`}>{record?.name ?? identifier}</ListLink>
      ),
  },
  {
    id: 'value',
    header: texts.key,
    hidden: true,
    cell: ({ issue_value: value }) => value,
  },
  {
    id: 'check',
    header: texts.check,
    cell: ({ check_information: { identifier, record } }) => (
      <ListLink to={`/checks/${identifier}`}>{record?.name ?? identifier}</ListLink>
    ),
  },
  {
    id: 'detected',
    header: texts.detected,
    width: '92px',
    cell: ({ detected_at: at }) => <Time at={at} />,
  },
  {
    id: 'blocks',
    header: texts.blocks,
    width: '92px',
    cell: ({ blocks_device_at: at }) => <Time at={at} absent={texts.never} />,
  },
]

const OPEN = 'open:true'

export function IssuesPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['issues', 'list'],
    ({ query: page, ...request }) =>
      getIssues({ ...request, query: { order: 'desc', ...page, expand: 'device,check' } }),
    query,
  )
  return (
    <Page title={texts.title} isFilling>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/issues/$id', params: { id } })}
        toolbar={
          <SearchBar path="/issues" value={query} fault={list.searchFault} onChange={search} />
        }
        actions={
          <SearchSwitch
            name={texts.which}
            all={texts.all}
            part={texts.open}
            clause={OPEN}
            query={query}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={IssueOpenedIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
