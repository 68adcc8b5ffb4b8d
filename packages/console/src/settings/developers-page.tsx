/* What developers set up: streams, keys and webhooks, each in a tab of its own address. */
import { Tabs } from '@mantine/core'
import { Navigate, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, type ComponentType } from 'react'
import { ApiKeysList } from '../api-keys/api-keys-list.tsx'
import { Page } from '../kit/page.tsx'
import { SETTINGS_OPENINGS } from '../shell/navigation.ts'
import { useIsOpen } from '../shell/session.ts'
import classes from './developers-page.module.css'
import { texts } from './texts.ts'

type TabName = 'ssf-streams' | 'api-keys' | 'webhooks'

/** The tabs in the interface's own words, by the end of their address. */
const TABS: Readonly<Record<TabName, { label: string; content: ComponentType }>> = {
  'ssf-streams': {
    label: 'SSF Streams',
    content: lazy(async () => ({
      default: (await import('../streams/streams-list.tsx')).StreamsList,
    })),
  },
  'api-keys': { label: 'API Keys', content: ApiKeysList },
  webhooks: {
    label: 'Webhooks',
    content: lazy(async () => ({
      default: (await import('../webhooks/webhooks-list.tsx')).WebhooksList,
    })),
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
  const { content: Content } = TABS[open.find((name) => name === tab) ?? 'api-keys']
  return (
    <Page
      title={texts.developers}
      lead={texts.developersLead}
      above={[{ label: texts.title, to: '/settings' }]}
      isFilling
    >
      <Tabs
        value={tab}
        onChange={(next) =>
          next !== null && void navigate({ to: '/settings/developers/$tab', params: { tab: next } })
        }
        className={classes.tabs}
        keepMounted={false}
      >
        <Tabs.List>
          {open.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {TABS[name].label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className={classes.panel}>
          <Suspense>
            <Content />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
