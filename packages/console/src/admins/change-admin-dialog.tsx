import { Button, Group, Modal, Radio, Stack, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { patchAdminUsersById } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

interface ChangeAdminDialogProps {
  readonly admin: AdminUser | undefined
  readonly onClose: () => void
}

const LEVELS = Object.keys(texts.levels) as AdminUser['access'][]

/** Changes the name and the access of an admin. */
export function ChangeAdminDialog({ admin, onClose }: ChangeAdminDialogProps) {
  const [firstName, setFirstName] = useState('')
  const [lastName, setLastName] = useState('')
  const [access, setAccess] = useState<AdminUser['access']>('full')
  useEffect(() => {
    if (admin === undefined) return
    setFirstName(admin.first_name)
    setLastName(admin.last_name)
    setAccess(admin.access)
  }, [admin])
  const change = useAction({
    run: async () => {
      if (admin === undefined) return
      const body = { first_name: firstName, last_name: lastName, access }
      await patchAdminUsersById({ path: { id: admin.id }, body, throwOnError: true })
    },
    done: texts.changed,
    changes: [['admin_users']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <Modal
      opened={admin !== undefined}
      onClose={onClose}
      title={texts.changeTitle(admin?.email ?? '')}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        <Stack>
          <Group grow>
            <TextInput
              label={texts.firstName}
              value={firstName}
              onChange={(event) => setFirstName(event.currentTarget.value)}
            />
            <TextInput
              label={texts.lastName}
              value={lastName}
              onChange={(event) => setLastName(event.currentTarget.value)}
            />
          </Group>
          <Radio.Group label={texts.access} value={access} onChange={(value) => setAccess(value)}>
            <Stack gap="xs" mt={6}>
              {LEVELS.map((level) => (
                <Radio
                  key={level}
                  value={level}
                  label={texts.levels[level]}
                  description={texts.levelHelp[level]}
                />
              ))}
            </Stack>
          </Radio.Group>
          <Fault error={change.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={change.isPending}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
