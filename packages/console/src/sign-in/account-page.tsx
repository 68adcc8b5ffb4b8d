/* The own account: ways to sign in, and sessions. */
import { Button, Group, Text } from '@mantine/core'
import { PasskeyFillIcon, PlusIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { browserOf } from '../kit/browser-name.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import classes from './account-page.module.css'
import { OwnPasswordSection } from './own-password.tsx'
import { OwnProviderSection } from './own-provider.tsx'
import {
  addPasskey,
  endSession,
  listPasskeys,
  listSessions,
  removePasskey,
  type Passkey,
} from './session-calls.ts'
import { texts } from './texts.ts'

export function AccountPage() {
  return (
    <Page
      title={texts.account}
      lead={texts.accountLead}
      above={[{ label: texts.settings, to: '/settings' }]}
    >
      <Passkeys />
      <OwnPasswordSection />
      <OwnProviderSection />
      <Sessions />
    </Page>
  )
}

function Passkeys() {
  const query = useQuery({
    queryKey: ['session', 'passkeys'],
    queryFn: ({ signal }) => listPasskeys(signal),
  })
  const [removing, setRemoving] = useState<Passkey>()
  const add = useAction({
    run: () => addPasskey(texts.thisDevice),
    done: texts.added,
    changes: [['session']],
  })
  const remove = useAction({
    run: ({ id }: Passkey) => removePasskey(id),
    done: texts.removed,
    changes: [['session']],
    showsFailure: true,
    onDone: () => setRemoving(undefined),
  })
  return (
    <Section
      title={texts.passkeys}
      lead={texts.passkeysLead}
      actions={
        <Button leftSection={<PlusIcon />} loading={add.isPending} onClick={() => add.mutate()}>
          {texts.add}
        </Button>
      }
    >
      <Loaded query={query} height={64}>
        {(passkeys) =>
          passkeys.length === 0 ? (
            <Text c="dimmed" size="sm">
              {texts.noPasskeys}
            </Text>
          ) : (
            <ul className={classes.list}>
              {passkeys.map((passkey) => (
                <li key={passkey.id}>
                  <PasskeyFillIcon />
                  <div className={classes.grow}>
                    <strong>{passkey.name}</strong>
                    <Text size="xs" c="dimmed">
                      {passkey.is_backed_up ? `${texts.synced} · ` : ''}
                      {texts.lastUsed} <Time at={passkey.last_used_at} />
                    </Text>
                  </div>
                  <Button size="compact-sm" variant="subtle" onClick={() => setRemoving(passkey)}>
                    {texts.remove}
                  </Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <ConfirmDialog
        isOpen={removing !== undefined}
        title={texts.removeTitle(removing?.name ?? '')}
        label={texts.removeLabel}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => removing !== undefined && remove.mutate(removing)}
        onClose={() => setRemoving(undefined)}
      >
        {texts.removeHelp}
      </ConfirmDialog>
    </Section>
  )
}

function Sessions() {
  const own = useSession()
  const query = useQuery({
    queryKey: ['session', 'sessions'],
    queryFn: ({ signal }) => listSessions(signal),
  })
  const end = useAction({ run: endSession, done: texts.ended, changes: [['session', 'sessions']] })
  return (
    <Section title={texts.sessions} lead={texts.sessionsLead}>
      <Loaded query={query} height={96}>
        {(sessions) => (
          <ul className={classes.list}>
            {sessions.map((session) => (
              <li key={session.id}>
                <div className={classes.grow}>
                  <strong>{browserOf(session.user_agent)}</strong>
                  <Text size="xs" c="dimmed">
                    {session.ip_address} · {texts.since} <Time at={session.created_at} /> ·{' '}
                    {texts.lastUsed} <Time at={session.last_used_at} />
                  </Text>
                </div>
                {session.id === own?.id ? (
                  <Text size="sm">{texts.thisSession}</Text>
                ) : (
                  <Group>
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      loading={end.isPending && end.variables === session.id}
                      onClick={() => end.mutate(session.id)}
                    >
                      {texts.end}
                    </Button>
                  </Group>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}
