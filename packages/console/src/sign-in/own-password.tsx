/* The own password on the page of the account: set up, changed and removed. */
import { Alert, Button, Group, Modal, Text } from '@mantine/core'
import { AlertIcon, KeyIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { ActionDialog, DialogForm } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import classes from './account-page.module.css'
import { NewPasswordInput } from './new-password-input.tsx'
import { PasswordSetUp } from './password-set-up.tsx'
import { changePassword, readPassword, removePassword, type OwnPassword } from './session-calls.ts'
import { texts } from './texts.ts'

type Doing = 'setting up' | 'changing' | 'removing'

export function OwnPasswordSection() {
  const query = useQuery({
    queryKey: ['session', 'password'],
    queryFn: ({ signal }) => readPassword(signal),
  })
  const [doing, setDoing] = useState<Doing>()
  const close = () => setDoing(undefined)
  const email = useSession()?.admin.email ?? ''
  return (
    <Section
      title={texts.ownPassword}
      lead={texts.ownPasswordLead}
      actions={
        <Button variant="default" onClick={() => setDoing('setting up')}>
          {query.data ? texts.setUpAnew : texts.setUp}
        </Button>
      }
    >
      <Loaded query={query} height={64}>
        {(password) => (
          <>
            {password?.is_closed === true ? (
              <Alert color="red" icon={<AlertIcon />} p="xs">
                {texts.passwordClosed}
              </Alert>
            ) : null}
            {password ? (
              <PresentPassword password={password} onAsk={setDoing} />
            ) : (
              <Text c="dimmed" size="sm">
                {texts.noPassword}
              </Text>
            )}
          </>
        )}
      </Loaded>
      <SetUpDialog isOpen={doing === 'setting up'} email={email} onClose={close} />
      <Modal opened={doing === 'changing'} onClose={close} title={texts.changeTitle} size={480}>
        <ChangeForm email={email} onClose={close} />
      </Modal>
      <RemoveDialog isOpen={doing === 'removing'} onClose={close} />
    </Section>
  )
}

interface PresentPasswordProps {
  readonly password: OwnPassword
  readonly onAsk: (doing: Doing) => void
}

function PresentPassword({ password, onAsk }: PresentPasswordProps) {
  const { changed_at: changedAt, last_used_at: lastUsedAt } = password
  return (
    <ul className={classes.list}>
      <li>
        <KeyIcon />
        <div className={classes.grow}>
          <strong>{texts.ownPassword}</strong>
          <Text size="xs" c="dimmed">
            {texts.passwordChanged} <Time at={changedAt} />
            {lastUsedAt === null ? null : (
              <>
                {' '}
                · {texts.lastUsed} <Time at={lastUsedAt} />
              </>
            )}
          </Text>
        </div>
        <Group gap={4} justify="flex-end">
          <Button size="compact-sm" variant="subtle" onClick={() => onAsk('changing')}>
            {texts.change}
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-label={texts.removePasswordLabel}
            onClick={() => onAsk('removing')}
          >
            {texts.remove}
          </Button>
        </Group>
      </li>
    </ul>
  )
}

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

function SetUpDialog({ isOpen, email, onClose }: DialogProps & { readonly email: string }) {
  const queryClient = useQueryClient()
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.ownPassword} size={480}>
      <PasswordSetUp
        email={email}
        onDone={() => {
          void queryClient.invalidateQueries({ queryKey: ['session'] })
          notifications.show({ message: texts.setUpDone })
          onClose()
        }}
      />
    </Modal>
  )
}

function ChangeForm({ email, onClose }: Pick<DialogProps, 'onClose'> & { readonly email: string }) {
  const [password, setPassword] = useState('')
  const change = useAction({
    run: () => changePassword(password),
    done: texts.changeDone,
    changes: [['session']],
    showsFailure: true,
    onDone: onClose,
  })
  const faults = fieldFaultsOf(change.error)
  return (
    <DialogForm
      label={texts.change}
      isChanged={password !== ''}
      isPending={change.isPending}
      error={faults === null ? change.error : null}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{texts.changeHelp}</Text>
      <NewPasswordInput
        email={email}
        value={password}
        error={faults?.['password']}
        onChange={setPassword}
      />
    </DialogForm>
  )
}

function RemoveDialog({ isOpen, onClose }: DialogProps) {
  return (
    <ActionDialog
      isOpen={isOpen}
      title={texts.removePasswordTitle}
      label={texts.removePasswordLabel}
      isDanger
      run={removePassword}
      done={texts.passwordRemoved}
      changes={[['session']]}
      onClose={onClose}
    >
      {texts.removePasswordHelp}
    </ActionDialog>
  )
}
