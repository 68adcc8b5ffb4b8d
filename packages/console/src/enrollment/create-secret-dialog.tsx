/* Creates an enrollment secret. */
import { Group, Modal, NumberInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import { postEnrollmentSecrets } from '../api/generated/sdk.gen.ts'
import type { EnrollmentSecretWithText } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

interface CreateSecretDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onIssued: (secret: EnrollmentSecretWithText) => void
}

const EMPTY = { name: '', owner: '', expires: '', usesMax: '', alarm: '100' }

export function CreateSecretDialog({ isOpen, onClose, onIssued }: CreateSecretDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.createTitle} size={480}>
      <CreateSecretForm onClose={onClose} onIssued={onIssued} />
    </Modal>
  )
}

function CreateSecretForm({ onClose, onIssued }: Omit<CreateSecretDialogProps, 'isOpen'>) {
  const form = useForm({
    initialValues: EMPTY,
    validate: { name: (name) => (name.trim() === '' ? texts.nameHelp : null) },
  })
  const create = useAction({
    run: async ({ name, owner, expires, usesMax, alarm }: typeof EMPTY) =>
      (
        await postEnrollmentSecrets({
          body: {
            name: name.trim(),
            owner_email: owner.trim() === '' ? null : owner.trim(),
            expires_at: expires === '' ? null : new Date(expires).toISOString(),
            uses_max: toNumber(usesMax),
            alarm_uses_per_hour: toNumber(alarm),
          },
          throwOnError: true,
        })
      ).data,
    done: texts.created,
    changes: [['enrollment_secrets']],
    showsFailure: true,
    onDone: (secret) => {
      onClose()
      onIssued(secret)
    },
  })
  const faults = fieldFaultsOf(create.error)
  return (
    <DialogForm
      label={texts.create}
      isChanged={form.isDirty()}
      isPending={create.isPending}
      error={create.error}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      onClose={onClose}
    >
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        data-autofocus
        {...form.getInputProps('name')}
        error={form.errors['name'] ?? faults?.['name']}
      />
      <TextInput
        label={texts.ownerEmail}
        description={texts.ownerHelp}
        type="email"
        {...form.getInputProps('owner')}
        error={faults?.['owner_email']}
      />
      <Group grow align="flex-start">
        <NumberInput
          label={texts.usesMax}
          description={texts.usesHelp}
          min={1}
          {...form.getInputProps('usesMax')}
          error={faults?.['uses_max']}
        />
        <TextInput
          label={texts.expires}
          description={texts.usesHelp}
          type="datetime-local"
          {...form.getInputProps('expires')}
          error={faults?.['expires_at']}
        />
      </Group>
      <NumberInput
        label={texts.alarm}
        min={1}
        {...form.getInputProps('alarm')}
        error={faults?.['alarm_uses_per_hour']}
      />
    </DialogForm>
  )
}

function toNumber(text: string | number): number | null {
  return text === '' ? null : Number(text)
}
