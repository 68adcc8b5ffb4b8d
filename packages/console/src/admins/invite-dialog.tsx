/* Invites an admin: who it is, and what it may do. The answer holds the link, once. */
import { Group, Modal, ScrollArea, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldFaultsOf } from '../api/client.ts'
import { postAdminUsers } from '../api/generated/sdk.gen.ts'
import type { InvitedAdminUser } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { AccessFields } from './admin-access.tsx'
import { INVITATION_RULES, toAdminBody, type AdminValues } from './admin-fields.ts'
import { texts } from './texts.ts'

interface InviteDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onInvited: (admin: InvitedAdminUser) => void
}

export function InviteDialog({ isOpen, onClose, onInvited }: InviteDialogProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={texts.inviteTitle}
      size={560}
      scrollAreaComponent={ScrollArea.Autosize}
    >
      <InviteForm onClose={onClose} onInvited={onInvited} />
    </Modal>
  )
}

type InviteValues = AdminValues & { email: string }

const EMPTY: InviteValues = {
  email: '',
  firstName: '',
  lastName: '',
  access: 'limited',
  restrictions: [],
}

function InviteForm({ onClose, onInvited }: Omit<InviteDialogProps, 'isOpen'>) {
  const form = useForm({ initialValues: EMPTY, validate: INVITATION_RULES })
  const invite = useAction({
    run: async (values: InviteValues) => {
      const body = { ...toAdminBody(values), email: values.email.trim() }
      return (await postAdminUsers({ body, throwOnError: true })).data
    },
    done: texts.invited,
    changes: [['admin_users']],
    showsFailure: true,
    onDone: (admin) => {
      onClose()
      onInvited(admin)
    },
  })
  const faults = fieldFaultsOf(invite.error)
  return (
    <DialogForm
      label={texts.invite}
      isChanged={form.isDirty()}
      isPending={invite.isPending}
      error={invite.error}
      onSubmit={form.onSubmit((values) => invite.mutate(values))}
      onClose={onClose}
    >
      <Text size="sm">{texts.inviteLead}</Text>
      <TextInput
        label={texts.email}
        description={texts.emailHelp}
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('email')}
        error={form.errors['email'] ?? faults?.['email']}
      />
      <Group grow align="flex-start">
        <TextInput
          label={texts.firstName}
          autoComplete="off"
          {...form.getInputProps('firstName')}
          error={form.errors['firstName'] ?? faults?.['first_name']}
        />
        <TextInput
          label={texts.lastName}
          autoComplete="off"
          {...form.getInputProps('lastName')}
          error={form.errors['lastName'] ?? faults?.['last_name']}
        />
      </Group>
      <AccessFields
        access={form.values.access}
        restrictions={form.values.restrictions}
        onAccess={(access) => form.setFieldValue('access', access)}
        onRestrictions={(restrictions) => form.setFieldValue('restrictions', restrictions)}
      />
    </DialogForm>
  )
}
