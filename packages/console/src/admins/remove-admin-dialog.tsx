import { Select } from '@mantine/core'
import { useState } from 'react'
import { deleteAdminUsersById } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

interface RemoveAdminDialogProps {
  readonly admin: AdminUser | undefined
  /** Who can take the API keys over. */
  readonly others: readonly AdminUser[]
  readonly onClose: () => void
}

/** Removes an admin; their API keys end or go to another. */
export function RemoveAdminDialog({ admin, others, onClose }: RemoveAdminDialogProps) {
  const [keysTo, setKeysTo] = useState<string | null>(null)
  const remove = useAction({
    run: async () => {
      if (admin === undefined) return
      const query = keysTo === null ? {} : { keys_to: keysTo }
      await deleteAdminUsersById({ path: { id: admin.id }, query, throwOnError: true })
    },
    done: texts.removed,
    changes: [['admin_users'], ['api_keys']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={admin !== undefined}
      title={texts.removeTitle(admin?.email ?? '')}
      label={texts.removeLabel}
      isDanger
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {texts.removeHelp}
      <Select
        mt="sm"
        label={texts.keysTo}
        placeholder={texts.nobody}
        clearable
        data={others.map(({ id, email }) => ({ value: id, label: email }))}
        value={keysTo}
        onChange={setKeysTo}
      />
    </ConfirmDialog>
  )
}
