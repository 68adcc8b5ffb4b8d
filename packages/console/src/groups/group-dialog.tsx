/* Creates or edits a group of devices. */
import { Modal, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import { patchDeviceGroupsById, postDeviceGroups } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
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
  const current = { name: group?.name ?? '', description: group?.description ?? '' }
  const form = useForm({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: async (values: typeof current) => {
      if (group === undefined) {
        return (await postDeviceGroups({ body: values, throwOnError: true })).data
      }
      const body = changedMembers(values, meanwhile.saved)
      const request = { path: { id: group.id }, body, throwOnError: true } as const
      return (await patchDeviceGroupsById(request)).data
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
      isChanged={form.isDirty()}
      isPending={save.isPending}
      error={faults === null ? save.error : null}
      onSubmit={form.onSubmit(
        meanwhile.whenDecided((values) => {
          const isUnchanged = Object.keys(changedMembers(values, meanwhile.saved)).length === 0
          if (group !== undefined && isUnchanged) onClose()
          else save.mutate(values)
        }),
      )}
      onClose={onClose}
    >
      <MeanwhileBar
        meanwhile={meanwhile}
        words={{ name: { label: texts.name }, description: { label: texts.description } }}
      />
      <TextInput
        label={texts.name}
        {...form.getInputProps('name')}
        error={faults?.['name']}
        data-autofocus
        required
      />
      <Textarea
        label={texts.description}
        {...form.getInputProps('description')}
        error={faults?.['description']}
        autosize
        minRows={2}
      />
    </DialogForm>
  )
}
