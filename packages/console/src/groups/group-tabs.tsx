import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { texts } from './texts.ts'

/** Groups of devices, and groups of people. */
export function GroupTabs({ current }: { readonly current: 'devices' | 'people' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      onChange={(next) => void navigate({ to: next === 'people' ? '/groups/people' : '/groups' })}
    >
      <Tabs.List>
        <Tabs.Tab value="devices">{texts.ofDevices}</Tabs.Tab>
        <Tabs.Tab value="people">{texts.ofPeople}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  )
}
