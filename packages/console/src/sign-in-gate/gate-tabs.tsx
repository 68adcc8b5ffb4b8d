import { LinkTabs } from '../kit/link-tabs.tsx'
import { texts } from './texts.ts'

const TABS = [
  { label: texts.tabs.applications, to: '/settings/sign-in' },
  { label: texts.tabs.upstreams, to: '/settings/sign-in/upstream-providers' },
  { label: texts.tabs.policy, to: '/settings/sign-in/policy' },
  { label: texts.tabs.sessions, to: '/settings/sign-in/sessions' },
] as const

/** The pages of signing in, above each of them. */
export function GateTabs({ current }: { readonly current: (typeof TABS)[number]['to'] }) {
  return <LinkTabs label={texts.title} tabs={TABS} current={current} />
}
