/* Creates or edits a group of devices. */
import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { patchDeviceGroupsById, postDeviceGroups } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

interface GroupDialogProps {
  /** The group that is edited; a new one is created when left out. */
  readonly group?: DeviceGroup
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onSaved?: (group: DeviceGroup) => void
}

export function GroupDialog({ group, isOpen, onClose, onSaved }: GroupDialogProps) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const save = useAction({
    run: async () => {
      const body = { name, description }
      const { data } =
        group === undefined
          ? await postDeviceGroups({ body, throwOnError: true })
          : await patchDeviceGroupsById({ path: { id: group.id }, body, throwOnError: true })
      return data
    },
    done: group === undefined ? (saved) => texts.created_(saved.name) : texts.saved,
    changes: [['device_groups']],
    showsFailure: true,
    onDone: (saved) => {
      onClose()
      onSaved?.(saved)
    },
  })
  const { reset } = save
  useEffect(() => {
    if (!isOpen) return
    setName(group?.name ?? '')
    setDescription(group?.description ?? '')
    reset()
  }, [isOpen, group, reset])
  const faults = save.error instanceof ApiError ? save.error.fields : {}
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={group === undefined ? texts.createTitle : texts.editTitle(group.name)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="md">
          <TextInput
            label={texts.name}
            value={name}
            error={faults['name']}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
            required
          />
          <Textarea
            label={texts.description}
            value={description}
            error={faults['description']}
            onChange={(event) => setDescription(event.currentTarget.value)}
            autosize
            minRows={2}
          />
          {Object.keys(faults).length === 0 ? <Fault error={save.error} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {group === undefined ? texts.createLabel : texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
