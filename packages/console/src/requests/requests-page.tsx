/* The inbox: who asks for an exemption, a registration or a re-enrollment, decided one by one or many at once. */
import { Button, Group, SegmentedControl, Text, Tooltip } from '@mantine/core'
import { InboxIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { DecisionDialog } from './decision-dialog.tsx'
import { Place, RequestDrawer } from './request-drawer.tsx'
import { REQUEST_KINDS, type Decision, type InboxRequest } from './request-kinds.ts'
import type { Kind, RequestSearch } from './request-search.ts'
import { RequestState } from './request-state.tsx'
import { RequestTabs } from './request-tabs.tsx'
import { texts } from './texts.ts'

function columnsOf(kind: Kind, onOpen: (id: string) => void): readonly Column<InboxRequest>[] {
  return [
    {
      id: 'from',
      header: kind === 'reenrollment' ? texts.machine : texts.requester,
      narrow: true,
      width: 'minmax(100px, 1fr)',
      cell: ({ id, from }) => (
        <a
          href={`?open=${id}`}
          onClick={(event) => {
            event.preventDefault()
            onOpen(id)
          }}
        >
          {from.label}
        </a>
      ),
    },
    {
      id: 'device',
      header: texts.device,
      width: 'minmax(120px, 1fr)',
      cell: ({ device }) => <Place {...device} />,
    },
    {
      id: 'message',
      header: kind === 'reenrollment' ? texts.reason : texts.message,
      width: 'minmax(160px, 2fr)',
      cell: ({ message }) => message,
    },
    {
      id: 'state',
      header: texts.state,
      narrow: true,
      width: '100px',
      cell: ({ status }) => <RequestState status={status} />,
    },
    {
      id: 'asked',
      header: texts.asked,
      narrow: true,
      width: '84px',
      cell: ({ askedAt }) => <Time at={askedAt} />,
    },
  ]
}

interface Deciding {
  readonly ids: readonly string[]
  readonly status: Decision['status']
}

export function RequestsPage() {
  const { kind = 'exemption' } = useSearch({ from: '/frame/requests' })
  // What was chosen of one kind is not chosen of another.
  return <Inbox key={kind} />
}

function Inbox() {
  const { kind = 'exemption', query: searched, open } = useSearch({ from: '/frame/requests' })
  const { path, waiting, permission, read } = REQUEST_KINDS[kind]
  const query = searched ?? waiting
  const navigate = useNavigate()
  const mayDecide = useMay(permission)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [deciding, setDeciding] = useState<Deciding>()
  const list = useList([`${kind}_requests`, 'list'], read, query)
  const go = (search: RequestSearch, replace = true) =>
    void navigate({ to: '/requests', search, replace })
  const place: RequestSearch = { kind, ...(searched === undefined ? {} : { query: searched }) }
  const openRequest = (id: string) => go({ ...place, open: id }, false)
  const columns = useMemo(() => columnsOf(kind, openRequest), [kind, searched])
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  // What is no longer in the list, or no longer waits, is not decided.
  const ids = list.items.filter((each) => each.isWaiting && chosen.has(each.id)).map(({ id }) => id)
  return (
    <Page title={texts.title} isFilling>
      <RequestTabs current={kind} />
      <DataTable
        name={texts.kinds[kind]}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => openRequest(id)}
        {...(mayDecide ? { selection: { ids: chosen, toggle } } : {})}
        toolbar={
          ids.length > 0 ? (
            <Choice
              count={ids.length}
              onDecide={(status) => setDeciding({ ids, status })}
              onClear={() => setChosen(new Set())}
            />
          ) : (
            <SearchBar
              path={path}
              value={query}
              fault={list.searchFault}
              onChange={(next) => go({ kind, query: next })}
            />
          )
        }
        actions={
          <SegmentedControl
            size="xs"
            aria-label={texts.which}
            value={query === waiting ? 'waiting' : query === '' ? 'all' : ''}
            onChange={(next) => go(next === 'all' ? { kind, query: '' } : { kind })}
            data={[
              { value: 'waiting', label: texts.waiting },
              { value: 'all', label: texts.all },
            ]}
          />
        }
        empty={
          <EmptyState icon={InboxIcon} title={texts.none}>
            {texts.noneHelp[kind]}
          </EmptyState>
        }
      />
      <RequestDrawer
        kind={kind}
        id={open}
        known={list.items.find(({ id }) => id === open)}
        mayDecide={mayDecide}
        isCovered={deciding !== undefined}
        onDecide={(status) => setDeciding({ ids: open === undefined ? [] : [open], status })}
        onClose={() => go(place)}
      />
      {deciding === undefined ? null : (
        <DecisionDialog
          kind={kind}
          {...deciding}
          onClose={() => setDeciding(undefined)}
          onDone={() => {
            setDeciding(undefined)
            setChosen(new Set())
            if (open !== undefined) go(place)
          }}
        />
      )}
    </Page>
  )
}

interface ChoiceProps {
  readonly count: number
  readonly onDecide: (status: Decision['status']) => void
  readonly onClear: () => void
}

function Choice({ count, onDecide, onClear }: ChoiceProps) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {texts.chosen(count)}
      </Text>
      <Button onClick={() => onDecide('approved')}>{texts.approve}</Button>
      <Button variant="default" onClick={() => onDecide('denied')}>
        {texts.deny}
      </Button>
      <Tooltip label={texts.clear}>
        <Button variant="subtle" onClick={onClear}>
          {texts.clear}
        </Button>
      </Tooltip>
    </Group>
  )
}
