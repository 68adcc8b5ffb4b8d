import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { texts } from './texts.ts'

/** Saved queries, and the tables that they read. */
export function ReportTabs({ current }: { readonly current: 'queries' | 'tables' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      onChange={(next) => void navigate({ to: next === 'tables' ? '/reports/tables' : '/reports' })}
    >
      <Tabs.List>
        <Tabs.Tab value="queries">{texts.queries}</Tabs.Tab>
        <Tabs.Tab value="tables">{texts.tables}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
