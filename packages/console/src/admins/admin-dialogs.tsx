/* The dialogs that the menu of an admin opens, one at a time, and the link that one of them makes. */
import { useState } from 'react'
import { postAdminUsersByIdSignInLink } from '../api/generated/sdk.gen.ts'
import type { AdminUser, InvitedAdminUser } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { nameOf } from './admin-state.tsx'
import { ChangeAdminDialog } from './change-admin-dialog.tsx'
import {
  DeactivateAdminDialog,
  RemoveAdminDialog,
  TakeBackAdminDialog,
} from './end-admin-dialogs.tsx'
import { IssuedLinkDialog } from './issued-link-dialog.tsx'
import { texts } from './texts.ts'

export type AdminDialog = 'change' | 'link' | 'deactivate' | 'take-back' | 'remove'

interface AdminDialogsProps {
  /** As it is known now; undefined while no dialog is open. */
  readonly admin: AdminUser | undefined
  readonly dialog: AdminDialog | undefined
  readonly onClose: () => void
  readonly onRemoved?: () => void
}

export function AdminDialogs({ admin, dialog, onClose, onRemoved }: AdminDialogsProps) {
  const [issued, setIssued] = useState<InvitedAdminUser>()
  return (
    <>
      {admin === undefined || dialog === undefined ? null : (
        <OpenDialog
          key={`${dialog} ${admin.id}`}
          admin={admin}
          dialog={dialog}
          onClose={onClose}
          onRemoved={() => onRemoved?.()}
          onIssued={setIssued}
        />
      )}
      <IssuedLinkDialog issued={issued} onClose={() => setIssued(undefined)} />
    </>
  )
}

interface OpenDialogProps {
  readonly admin: AdminUser
  readonly dialog: AdminDialog
  readonly onClose: () => void
  readonly onRemoved: () => void
  readonly onIssued: (issued: InvitedAdminUser) => void
}

function OpenDialog({ admin, dialog, onClose, onRemoved, onIssued }: OpenDialogProps) {
  switch (dialog) {
    case 'change':
      return <ChangeAdminDialog admin={admin} onClose={onClose} />
    case 'link':
      return <NewLinkDialog admin={admin} onClose={onClose} onIssued={onIssued} />
    case 'deactivate':
      return <DeactivateAdminDialog admin={admin} onClose={onClose} />
    case 'take-back':
      return <TakeBackAdminDialog admin={admin} onClose={onClose} />
    case 'remove':
      return <RemoveAdminDialog admin={admin} onClose={onClose} onRemoved={onRemoved} />
  }
}

function NewLinkDialog(props: Pick<OpenDialogProps, 'admin' | 'onClose' | 'onIssued'>) {
  const { admin, onClose, onIssued } = props
  return (
    <ActionDialog
      isOpen
      title={texts.newLinkTitle(nameOf(admin))}
      label={texts.newLinkLabel}
      run={async () =>
        (await postAdminUsersByIdSignInLink({ path: { id: admin.id }, throwOnError: true })).data
      }
      changes={[['admin_users'], ['admin_sessions']]}
      onDone={onIssued}
      onClose={onClose}
    >
      {texts.newLinkHelp}
    </ActionDialog>
  )
}
