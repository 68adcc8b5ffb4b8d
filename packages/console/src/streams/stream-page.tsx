/* One stream: how it is doing, what it sent, and what can be done with it. */
import { Button } from '@mantine/core'
import { PaperAirplaneIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Stream } from '../api/generated/types.gen.ts'
import { DeliveryTable } from '../deliveries/delivery-table.tsx'
import { PageTabs, type PageTab } from '../kit/page-tabs.tsx'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { useMay } from '../shell/session.ts'
import { ExplainTab } from './explain-tab.tsx'
import { KeysTab } from './keys-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { PollTokensTab } from './poll-tokens-tab.tsx'
import { ReplayTab } from './replay-tab.tsx'
import { SelfTestTab } from './self-test-tab.tsx'
import { StateTab } from './state-tab.tsx'
import { StatusTab } from './status-tab.tsx'
import { StreamMenu } from './stream-actions.tsx'
import { healthQuery, STREAMS_PERMISSION, streamQuery } from './stream-queries.ts'
import { StreamStatus } from './stream-status.tsx'
import { SubjectsTab } from './subjects-tab.tsx'
import { TestStreamDialog } from './test-stream.tsx'
import { formatCount } from './format.ts'
import { texts } from './texts.ts'
import { WaitingTab } from './waiting-tab.tsx'

const FROM = '/frame/signals/streams/$streamId'

export function StreamPage() {
  const { streamId } = useParams({ from: FROM })
  const query = useQuery(streamQuery(streamId))
  return <Loaded query={query}>{(stream) => <LoadedStream stream={stream} />}</Loaded>
}

function LoadedStream({ stream }: { readonly stream: Stream }) {
  const { tab } = useSearch({ from: FROM })
  const navigate = useNavigate()
  const { id, name } = stream
  const open = (next: string) =>
    void navigate({
      to: '/signals/streams/$streamId',
      params: { streamId: id },
      search: { tab: next },
    })
  const tabs = tabsOf(stream, open)
  return (
    <Page
      title={name}
      badge={<StreamStatus status={stream.status} />}
      lead={<Lead stream={stream} />}
      above={[{ label: texts.title, to: '/signals/streams' }]}
      actions={<PageActions stream={stream} />}
      isFilling={tab === 'deliveries'}
    >
      <PageTabs name={texts.page.tabsOf(name)} tabs={tabs} value={tab} onChange={open} />
    </Page>
  )
}

function PageActions({ stream }: { readonly stream: Stream }) {
  const navigate = useNavigate()
  const may = useMay(STREAMS_PERMISSION)
  const [isTesting, setTesting] = useState(false)
  return (
    <>
      <Button
        variant="default"
        leftSection={<PaperAirplaneIcon />}
        disabled={!may}
        onClick={() => setTesting(true)}
      >
        {texts.test}
      </Button>
      <StreamMenu stream={stream} onDeleted={() => void navigate({ to: '/signals/streams' })} />
      <TestStreamDialog stream={stream} isOpen={isTesting} onClose={() => setTesting(false)} />
    </>
  )
}

/** What is so, in one sentence. */
function Lead({ stream }: { readonly stream: Stream }) {
  const { data: health } = useQuery(healthQuery(stream.id))
  if (stream.status !== 'enabled') {
    const reason = stream.status_reason
    return `${texts.page.stopped[stream.status]}${reason === null ? '.' : `: ${reason}`}`
  }
  if (health === undefined) return ' '
  const waiting = texts.page.waiting(formatCount(health.queue))
  if (health.state === 'failing') {
    const why = health.last_failure === null ? '' : ` ${health.last_failure}`
    return `${texts.page.failing}, ${waiting}.${why}`
  }
  const { count, exact } = health.dead_letters
  const told =
    count > 0
      ? texts.page.givenUp(formatCount({ count, exact }))
      : health.last_success_at === null
        ? texts.page.unused
        : texts.page.healthy
  return health.queue.count > 0 ? `${told}, ${waiting}.` : `${told}; nothing is waiting.`
}

function tabsOf(stream: Stream, open: (tab: string) => void): readonly PageTab[] {
  const { id } = stream
  const labels = texts.tabs
  return [
    {
      id: 'overview',
      label: labels.overview,
      render: () => <OverviewTab stream={stream} onOpen={open} />,
    },
    {
      id: 'deliveries',
      label: labels.deliveries,
      render: () => <DeliveryTable owner={{ kind: 'streams', id }} />,
    },
    { id: 'waiting', label: labels.waiting, render: () => <WaitingTab stream={stream} /> },
    { id: 'state', label: labels.state, render: () => <StateTab id={id} /> },
    { id: 'subjects', label: labels.subjects, render: () => <SubjectsTab stream={stream} /> },
    { id: 'status', label: labels.status, render: () => <StatusTab stream={stream} /> },
    { id: 'explain', label: labels.explain, render: () => <ExplainTab id={id} /> },
    { id: 'replay', label: labels.replay, render: () => <ReplayTab id={id} /> },
    { id: 'self-test', label: labels.selfTest, render: () => <SelfTestTab stream={stream} /> },
    { id: 'keys', label: labels.keys, render: () => <KeysTab id={id} /> },
    {
      id: 'poll-tokens',
      label: labels.pollTokens,
      render: () => <PollTokensTab stream={stream} />,
    },
  ]
}
