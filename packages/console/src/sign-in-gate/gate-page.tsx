/* The frame of the pages of signing in here: one title, and the way between them. */
import type { ReactNode } from 'react'
import { LinkTabs } from '../kit/link-tabs.tsx'
import { Page } from '../kit/page.tsx'
import { texts } from './texts.ts'

const TABS = [
  { label: texts.tabs.applications, to: '/settings/sign-in' },
  { label: texts.tabs.upstreams, to: '/settings/sign-in/upstream-providers' },
  { label: texts.tabs.policy, to: '/settings/sign-in/policy' },
  { label: texts.tabs.sessions, to: '/settings/sign-in/sessions' },
  { label: texts.tabs.browsers, to: '/settings/sign-in/browsers' },
  { label: texts.tabs.entra, to: '/settings/sign-in/entra-accounts' },
] as const

interface GatePageProps {
  readonly current: (typeof TABS)[number]['to']
  /** Whether what it shows takes all the room that is left. */
  readonly isFilling?: boolean
  readonly children: ReactNode
}

export function GatePage({ current, isFilling = false, children }: GatePageProps) {
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
      isFilling={isFilling}
    >
      <LinkTabs label={texts.title} tabs={TABS} current={current} />
      {children}
    </Page>
  )
}
