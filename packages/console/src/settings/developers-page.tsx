/* What developers set up: streams, keys and webhooks, each in a tab of its own address. */
import { Tabs } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, type ComponentType } from 'react'
import { ApiKeysList } from '../api-keys/api-keys-list.tsx'
import { Page } from '../kit/page.tsx'
import classes from './developers-page.module.css'
import { texts } from './texts.ts'

/** The tabs in the interface's own words, by the end of their address. */
const TABS: Readonly<Record<string, { label: string; content: ComponentType }>> = {
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

export function DevelopersPage() {
  const { tab } = useParams({ from: '/frame/settings/developers/$tab' })
  const navigate = useNavigate()
  const { content: Content } = TABS[tab] ?? { content: ApiKeysList }
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
          {Object.entries(TABS).map(([value, { label }]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
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
