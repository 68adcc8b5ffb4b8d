/* What people were granted who signed in here. */
import { Switch } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Section } from '../kit/page.tsx'
import { GatePage } from './gate-page.tsx'
import { SessionTable } from './session-table.tsx'
import { texts } from './texts.ts'

const { sessions: words } = texts

export function SessionsPage() {
  const { ended = false } = useSearch({ from: '/frame/settings/sign-in/sessions' })
  const navigate = useNavigate({ from: '/settings/sign-in/sessions' })
  return (
    <GatePage current="/settings/sign-in/sessions">
      <Section
        title={texts.tabs.sessions}
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
        <SessionTable showsEnded={ended} />
      </Section>
    </GatePage>
  )
}
