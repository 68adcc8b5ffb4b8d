import { LinkTabs } from '../kit/link-tabs.tsx'
import { texts } from './texts.ts'

const TABS = [
  { label: texts.ofDevices, to: '/groups' },
  { label: texts.ofPeople, to: '/groups/people' },
]

/** Groups of devices, and groups of people. */
export function GroupTabs({ current }: { readonly current: string }) {
  return <LinkTabs label={texts.title} tabs={TABS} current={current} />
}
