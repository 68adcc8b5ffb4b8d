/* What is asked before an application is switched, gets another secret, or goes; each says what it does to people. */
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import {
  deleteSignInApplicationsById,
  patchSignInApplicationsById,
  postSignInApplicationsByIdRotateSecret,
} from '../api/generated/sdk.gen.ts'
import type { SignInApplication } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/page.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { useAction } from '../kit/use-action.ts'
import { APPLICATIONS_PATH } from './gate-queries.ts'
import { texts } from './texts.ts'

const { application: words } = texts

export type ApplicationDialog = 'on' | 'off' | 'rotate' | 'delete' | undefined

interface ApplicationDialogsProps {
  readonly application: SignInApplication
  readonly open: ApplicationDialog
  readonly onChange: (dialog: ApplicationDialog) => void
}

export function ApplicationDialogs(props: ApplicationDialogsProps) {
  const { application, open, onChange } = props
  const close = () => onChange(undefined)
  const dialog = { application, onClose: close }
  return (
    <>
      <SwitchDialog {...dialog} isOn isOpen={open === 'on'} />
      <SwitchDialog {...dialog} isOn={false} isOpen={open === 'off'} />
      <RotateDialog {...dialog} isOpen={open === 'rotate'} />
      <DeleteDialog {...dialog} isOpen={open === 'delete'} />
    </>
  )
}

interface DialogProps {
  readonly application: SignInApplication
  readonly isOpen: boolean
  readonly onClose: () => void
}

interface SwitchDialogProps extends DialogProps {
  /** What is asked for, whatever others do to the application meanwhile. */
  readonly isOn: boolean
}

function SwitchDialog({ application, isOn, isOpen, onClose }: SwitchDialogProps) {
  const { id, name, enabled } = application
  const change = useAction({
    run: () =>
      patchSignInApplicationsById({
        path: { id },
        body: { enabled: isOn },
        throwOnError: true,
      }),
    done: isOn ? words.switchedOn(name) : words.switchedOff(name),
    changes: [['sign_in_applications'], ['sign_in_sessions']],
    showsFailure: true,
    onDone: onClose,
  })
  const isSoAlready = isOpen && !change.isPending && enabled === isOn
  useEffect(() => {
    if (!isSoAlready) return
    notifications.show({ message: isOn ? words.onAlready(name) : words.offAlready(name) })
    onClose()
  }, [isSoAlready])
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={isOn ? words.onTitle(name) : words.offTitle(name)}
      label={isOn ? words.switchOn : words.switchOff}
      isDanger={!isOn}
      isPending={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate()}
      onClose={onClose}
    >
      {isOn ? words.onHelp : words.offHelp}
    </ConfirmDialog>
  )
}

function RotateDialog({ application: { id, name }, isOpen, onClose }: DialogProps) {
  const [secret, setSecret] = useState<string | null>(null)
  const rotate = useAction({
    run: async () =>
      (await postSignInApplicationsByIdRotateSecret({ path: { id }, throwOnError: true })).data,
    changes: [['sign_in_applications']],
    showsFailure: true,
    onDone: (issued) => {
      onClose()
      setSecret(issued.client_secret)
    },
  })
  const issued = rotate.data
  return (
    <>
      <ConfirmDialog
        isOpen={isOpen}
        title={words.rotateTitle(name)}
        label={words.rotate}
        isDanger
        isPending={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate()}
        onClose={onClose}
      >
        {words.rotateHelp}
      </ConfirmDialog>
      <IssuedSecretDialog
        title={words.secretOf(name)}
        secrets={secret === null ? [] : [{ name: words.secret, value: secret }]}
        onClose={() => {
          setSecret(null)
          rotate.reset()
        }}
      >
        {issued === undefined ? null : (
          <Facts
            facts={[[texts.clientId, <Copyable key="id" value={issued.client_id} isWhole />]]}
          />
        )}
      </IssuedSecretDialog>
    </>
  )
}

function DeleteDialog({ application: { id, name }, isOpen, onClose }: DialogProps) {
  const navigate = useNavigate()
  const remove = useAction({
    run: () => deleteSignInApplicationsById({ path: { id }, throwOnError: true }),
    done: words.deleted(name),
    changes: [['sign_in_applications', 'list'], ['sign_in_sessions']],
    showsFailure: true,
    onDone: () => void navigate({ to: APPLICATIONS_PATH }),
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={words.deleteTitle(name)}
      label={words.delete}
      typed={name}
      isDanger
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {words.deleteHelp}
    </ConfirmDialog>
  )
}
