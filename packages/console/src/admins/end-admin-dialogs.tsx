/* What ends the access of an admin, for a time or for good, and what gives it back. Each says what ends. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { deleteAdminUsersById, patchAdminUsersById } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { useSession } from '../shell/session.ts'
import { nameOf } from './admin-state.tsx'
import { KeysToSelect } from './keys-to-select.tsx'
import { texts } from './texts.ts'

interface EndDialogProps {
  readonly admin: AdminUser
  readonly onClose: () => void
}

interface RemoveAdminDialogProps extends EndDialogProps {
  readonly onRemoved: () => void
}

/** The collections that change with the access of an admin. */
const CHANGES = [['admin_users'], ['admin_sessions'], ['api_keys']] as const

export function DeactivateAdminDialog({ admin, onClose }: EndDialogProps) {
  const [keysTo, setKeysTo] = useState<string | null>(null)
  return (
    <ActionDialog
      isOpen
      title={texts.deactivateTitle(nameOf(admin))}
      label={texts.deactivateLabel}
      isDanger
      run={() =>
        patchAdminUsersById({
          path: { id: admin.id },
          body: { deactivated: true, ...(keysTo === null ? {} : { keys_to: keysTo }) },
          throwOnError: true,
        })
      }
      done={texts.wasDeactivated}
      changes={CHANGES}
      onClose={onClose}
    >
      <WhatEnds admin={admin} text={texts.deactivateHelp} keysTo={keysTo} onKeysTo={setKeysTo} />
    </ActionDialog>
  )
}

export function RemoveAdminDialog({ admin, onClose, onRemoved }: RemoveAdminDialogProps) {
  const [keysTo, setKeysTo] = useState<string | null>(null)
  return (
    <ActionDialog
      isOpen
      title={texts.removeTitle(nameOf(admin))}
      label={texts.removeLabel}
      isDanger
      run={() =>
        deleteAdminUsersById({
          path: { id: admin.id },
          query: keysTo === null ? {} : { keys_to: keysTo },
          throwOnError: true,
        })
      }
      done={texts.removed}
      changes={CHANGES}
      onDone={onRemoved}
      onClose={onClose}
    >
      <WhatEnds admin={admin} text={texts.removeHelp} keysTo={keysTo} onKeysTo={setKeysTo} />
    </ActionDialog>
  )
}

export function TakeBackAdminDialog({ admin, onClose }: EndDialogProps) {
  return (
    <ActionDialog
      isOpen
      title={texts.takeBackTitle(nameOf(admin))}
      label={texts.takeBackLabel}
      run={() =>
        patchAdminUsersById({
          path: { id: admin.id },
          body: { deactivated: false },
          throwOnError: true,
        })
      }
      done={texts.wasTakenBack}
      changes={CHANGES}
      onClose={onClose}
    >
      {texts.takeBackHelp}
    </ActionDialog>
  )
}

interface WhatEndsProps {
  readonly admin: AdminUser
  readonly text: string
  readonly keysTo: string | null
  readonly onKeysTo: (id: string | null) => void
}

function WhatEnds({ admin, text, keysTo, onKeysTo }: WhatEndsProps) {
  const isOwn = useSession()?.admin.id === admin.id
  return (
    <>
      {text}
      {isOwn ? (
        <Text size="sm" mt="xs" fw={650}>
          {texts.isYou}
        </Text>
      ) : null}
      {admin.access === 'full' ? (
        <div style={{ marginTop: '0.75rem' }}>
          <KeysToSelect admin={admin} value={keysTo} onChange={onKeysTo} />
        </div>
      ) : null}
    </>
  )
}
