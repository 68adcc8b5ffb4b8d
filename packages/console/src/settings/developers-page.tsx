/* What developers set up: streams, keys and webhooks, each in a tab of its own address. */
import { Skeleton } from '@mantine/core'
import { Navigate, useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, type ComponentType } from 'react'
import { ApiKeysList } from '../api-keys/api-keys-list.tsx'
import { lazyPart } from '../kit/lazy-part.tsx'
import { Page } from '../kit/page.tsx'
import { PageTabs, type PageTab } from '../kit/page-tabs.tsx'
import { SETTINGS_OPENINGS } from '../shell/navigation.ts'
import { useIsOpen } from '../shell/session.ts'
import { texts } from './texts.ts'

type TabName = 'ssf-streams' | 'api-keys' | 'webhooks'

/** The tabs in the interface's own words, by the end of their address. */
const TABS: Readonly<Record<TabName, { label: string; content: ComponentType }>> = {
  'ssf-streams': {
    label: 'SSF Streams',
    content: lazyPart(() => import('../streams/streams-list.tsx'), 'StreamsList'),
  },
  'api-keys': { label: 'API Keys', content: ApiKeysList },
  webhooks: {
    label: 'Webhooks',
    content: lazyPart(() => import('../webhooks/webhooks-list.tsx'), 'WebhooksList'),
  },
}

const TAB_NAMES = Object.keys(TABS) as TabName[]

/** The tabs that are open to the signed-in admin, in their order. */
function useOpenTabs(): readonly TabName[] {
  const isOpen = useIsOpen()
  return TAB_NAMES.filter((name) => isOpen(SETTINGS_OPENINGS[`/settings/developers/${name}`]))
}

/** Leads to the keys, or to the first tab that is open to the signed-in admin. */
export function FirstDevelopersPage() {
  const open = useOpenTabs()
  const tab = open.includes('api-keys') ? 'api-keys' : (open[0] ?? 'api-keys')
  return <Navigate to="/settings/developers/$tab" params={{ tab }} replace />
}

export function DevelopersPage() {
  const { tab } = useParams({ from: '/frame/settings/developers/$tab' })
  const navigate = useNavigate()
  const open = useOpenTabs()
  if (!open.some((name) => name === tab)) return <FirstDevelopersPage />
  return (
    <Page
      title={texts.developers}
      lead={texts.developersLead}
      above={[{ label: texts.title, to: '/settings' }]}
      isFilling
    >
      <PageTabs
        name={texts.developersTabs}
        tabs={open.map(toTab)}
        value={tab}
        onChange={(next) =>
          void navigate({ to: '/settings/developers/$tab', params: { tab: next } })
        }
      />
    </Page>
  )
}

function toTab(name: TabName): PageTab {
  const { label, content: Content } = TABS[name]
  const render = () => (
    <Suspense fallback={<Skeleton height={240} />}>
      <Content />
    </Suspense>
  )
  return { id: name, label, render }
}
