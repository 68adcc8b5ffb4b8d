/* All sign-ins, the newest first. */
import { SignInIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { getAuthLogs } from '../api/generated/sdk.gen.ts'
import type { AuthLog } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { SearchSwitch } from '../kit/search-switch.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { SignInResult } from './sign-in-result.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<AuthLog>[] = [
  {
    id: 'person',
    header: texts.person,
    narrow: true,
    width: 'minmax(116px, 1.2fr)',
    cell: ({ id, person_name: name, person_email: email }) => (
      <Link to="/sign-ins/$id" params={{ id }}>
        {name === '' ? email : name}
      </Link>
    ),
  },
  {
    id: 'result',
    header: texts.result,
    narrow: true,
    width: '104px',
    cell: ({ result }) => <SignInResult result={result} />,
  },
  {
    id: 'device',
    header: texts.device,
    cell: ({ device_info: { identifier, record } }) =>
      identifier === '' ? (
        texts.noDevice
      ) : (
        <ListLink to={`/devices/${identifier}`}>{record?.name ?? identifier}</ListLink>
      ),
  },
  {
    id: 'status',
    header: texts.status,
    width: '140px',
    cell: ({ initial_status: status }) => texts.statuses[status],
  },
  { id: 'app', header: texts.app, cell: ({ okta_app_name: name }) => name ?? '–' },
  { id: 'place', header: texts.place, cell: placeOf },
  {
    id: 'at',
    header: texts.at,
    narrow: true,
    width: '92px',
    cell: ({ timestamp: at }) => <Time at={at} />,
  },
]

function placeOf({ city, country, ip_address: address }: AuthLog): string {
  const place = [city, country].filter((each) => each !== undefined && each !== '').join(', ')
  return place === '' ? (address ?? '–') : place
}

const STOPPED = 'result:Fail'

export function SignInsPage() {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['auth_logs', 'list'],
    ({ query: page, ...request }) =>
      getAuthLogs({ ...request, query: { order: 'desc', ...page, expand: 'device' } }),
    query,
  )
  return (
    <Page title={texts.title} isFilling>
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/sign-ins/$id', params: { id } })}
        toolbar={
          <SearchBar path="/auth_logs" value={query} fault={list.searchFault} onChange={search} />
        }
        actions={
          <SearchSwitch
            name={texts.which}
            all={texts.all}
            part={texts.stopped}
            clause={STOPPED}
            query={query}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={SignInIcon} title={query === '' ? texts.none : texts.noneMatches}>
            {query === '' ? texts.noneHelp : texts.noneMatchesHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}
