/* Browsers that keep a key, each of which can be forgotten. */
import { BrowserIcon } from '@primer/octicons-react'
import { deleteSignInBrowserKeysById, getSignInBrowserKeys } from '../api/generated/sdk.gen.ts'
import type { ListedSignInBrowserKey } from '../api/generated/types.gen.ts'
import { browserOf } from '../kit/browser-name.ts'
import { personColumn } from '../kit/person-column.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { useRowEnding } from './row-ending.tsx'
import { texts } from './texts.ts'

const { browsers: words } = texts

interface BrowserTableProps {
  /** Of one person only, or on one device; of all when both are left out. */
  readonly personId?: string
  readonly deviceId?: string
  /** Those as well that have ended. */
  readonly showsEnded?: boolean
}

export function BrowserTable({ personId, deviceId, showsEnded = false }: BrowserTableProps) {
  const chosen = {
    ...(personId === undefined ? {} : { person_id: personId }),
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
    ...(showsEnded ? {} : { live: 'true' as const }),
  }
  const list = useList<ListedSignInBrowserKey>(
    ['sign_in_browser_keys', 'list', personId ?? '', deviceId ?? '', showsEnded],
    ({ query, ...options }) => getSignInBrowserKeys({ ...options, query: { ...query, ...chosen } }),
  )
  const ending = useRowEnding<ListedSignInBrowserKey>({
    words,
    nameOf: ({ user_agent: agent, person_email: email, device_name: device }) =>
      words.nameOf(browserOf(agent), email, device),
    isOver: ({ ended_at: ended }) => ended !== null,
    run: (id) => deleteSignInBrowserKeysById({ path: { id }, throwOnError: true }),
    changes: [['sign_in_browser_keys'], ['sign_in_sessions']],
  })
  const isOfOne = personId !== undefined
  const columns = COLUMNS.filter(
    ({ id }) => !(id === 'person' && isOfOne) && !(id === 'device' && deviceId !== undefined),
  )
  return (
    <>
      <ShortTable
        name={words.title}
        columns={[...columns, ending.column]}
        list={list}
        rowId={({ id }) => id}
        empty={
          !isOfOne && deviceId === undefined ? (
            <EmptyState icon={BrowserIcon} title={words.none}>
              {words.noneHelp}
            </EmptyState>
          ) : (
            words.noneHere
          )
        }
      />
      {ending.dialog}
    </>
  )
}

const COLUMNS: readonly Column<ListedSignInBrowserKey>[] = [
  {
    id: 'browser',
    header: words.browser,
    narrow: true,
    cell: ({ user_agent: agent }) => <span title={agent ?? undefined}>{browserOf(agent)}</span>,
  },
  personColumn(words.person),
  {
    id: 'device',
    header: words.device,
    cell: ({ device_id: id, device_name: name }) => (
      <RecordLink kind="device" id={id}>
        {name}
      </RecordLink>
    ),
  },
  { id: 'proven', header: words.proven, cell: ({ last_proven_at: at }) => <Time at={at} /> },
  { id: 'used', header: words.used, cell: ({ last_used_at: at }) => <Time at={at} /> },
  { id: 'bound', header: words.bound, cell: (key) => <Since keyOfBrowser={key} /> },
]

/** Since when the browser is known; until when and why no longer, where it is not. */
function Since({ keyOfBrowser }: { readonly keyOfBrowser: ListedSignInBrowserKey }) {
  const { bound_at: bound, ended_at: ended, end_reason: reason } = keyOfBrowser
  if (ended === null) return <Time at={bound} />
  const why = reason === null ? '' : words.reasons[reason]
  return (
    <>
      <Time at={bound} /> – <Time at={ended} />
      <div>
        {reason === 'copied' ? (
          <StateBadge tone="bad" isPlain>
            {why}
          </StateBadge>
        ) : (
          why
        )}
      </div>
    </>
  )
}
