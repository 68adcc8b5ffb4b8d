/* Creates or edits a group of devices. */
import { Modal, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { patchDeviceGroupsById, postDeviceGroups } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

interface GroupDialogProps {
  /** The group that is edited; a new one is created when left out. */
  readonly group?: DeviceGroup
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onSaved?: (group: DeviceGroup) => void
}

export function GroupDialog({ isOpen, ...form }: GroupDialogProps) {
  const { group, onClose } = form
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={group === undefined ? texts.createTitle : texts.editTitle(group.name)}
    >
      <GroupForm {...form} />
    </Modal>
  )
}

function GroupForm({ group, onClose, onSaved }: Omit<GroupDialogProps, 'isOpen'>) {
  const [name, setName] = useState(group?.name ?? '')
  const [description, setDescription] = useState(group?.description ?? '')
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
  const faults = fieldFaultsOf(save.error)
  return (
    <DialogForm
      label={group === undefined ? texts.createLabel : texts.save}
      isPending={save.isPending}
      error={faults === null ? save.error : null}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextInput
        label={texts.name}
        value={name}
        error={faults?.['name']}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
        required
      />
      <Textarea
        label={texts.description}
        value={description}
        error={faults?.['description']}
        onChange={(event) => setDescription(event.currentTarget.value)}
        autosize
        minRows={2}
      />
    </DialogForm>
  )
}
