import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { texts } from './texts.ts'

/** Those who are here, and those who have gone. */
export function PeopleTabs({ current }: { readonly current: 'present' | 'deprovisioned' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      onChange={(next) =>
        void navigate({ to: next === 'deprovisioned' ? '/people/deprovisioned' : '/people' })
      }
    >
      <Tabs.List>
        <Tabs.Tab value="present">{texts.present}</Tabs.Tab>
        <Tabs.Tab value="deprovisioned">{texts.deprovisioned}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
