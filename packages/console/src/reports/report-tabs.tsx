import { LinkTabs } from '../kit/link-tabs.tsx'
import { texts } from './texts.ts'

const TABS = [
  { label: texts.queries, to: '/reports' },
  { label: texts.tables, to: '/reports/tables' },
]

/** Saved queries, and the tables that they read. */
export function ReportTabs({ current }: { readonly current: string }) {
  return <LinkTabs label={texts.title} tabs={TABS} current={current} />
}
