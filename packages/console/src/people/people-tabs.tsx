import { LinkTabs } from '../kit/link-tabs.tsx'
import { texts } from './texts.ts'

const TABS = [
  { label: texts.present, to: '/people' },
  { label: texts.deprovisioned, to: '/people/deprovisioned' },
]

/** Those who are here, and those who have gone. */
export function PeopleTabs({ current }: { readonly current: string }) {
  return <LinkTabs label={texts.title} tabs={TABS} current={current} />
}
