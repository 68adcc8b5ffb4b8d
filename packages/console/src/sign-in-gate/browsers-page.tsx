/* The browsers in which people were proven. */
import { Switch } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Section } from '../kit/page.tsx'
import { BrowserTable } from './browser-table.tsx'
import { GatePage } from './gate-page.tsx'
import { texts } from './texts.ts'

const { browsers: words } = texts

export function BrowsersPage() {
  const { ended = false } = useSearch({ from: '/frame/settings/sign-in/browsers' })
  const navigate = useNavigate({ from: '/settings/sign-in/browsers' })
  return (
    <GatePage current="/settings/sign-in/browsers">
      <Section
        title={texts.tabs.browsers}
        lead={words.lead}
        isFlush
        actions={
          <Switch
            label={words.showEnded}
            checked={ended}
            onChange={({ currentTarget }) =>
              void navigate({ search: currentTarget.checked ? { ended: true } : {}, replace: true })
            }
          />
        }
      >
        <BrowserTable showsEnded={ended} />
      </Section>
    </GatePage>
  )
}
