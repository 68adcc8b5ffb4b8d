/* Changes the name of an admin and what it may do. */
import { Group, Modal, ScrollArea, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { patchAdminUsersById } from '../api/generated/sdk.gen.ts'
import type { AdminUser } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { useAction } from '../kit/use-action.ts'
import { AccessFields, restrictionsOf } from './admin-access.tsx'
import { ADMIN_RULES, toAdminBody, type AdminValues } from './admin-fields.ts'
import { nameOf } from './admin-state.tsx'
import { KeysToSelect } from './keys-to-select.tsx'
import { texts } from './texts.ts'

interface ChangeAdminDialogProps {
  readonly admin: AdminUser
  readonly onClose: () => void
}

const WORDS: FieldWords<AdminValues> = {
  firstName: { label: texts.firstName },
  lastName: { label: texts.lastName },
  access: { label: texts.access, tell: (access) => texts.levels[access] },
  restrictions: {
    label: texts.restrictions,
    tell: (names) =>
      names.map((name) => texts.restrictionNames[name]).join(', ') || texts.noRestriction,
  },
}

export function ChangeAdminDialog({ admin, onClose }: ChangeAdminDialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.changeTitle(nameOf(admin))}
      size={560}
      scrollAreaComponent={ScrollArea.Autosize}
    >
      <ChangeAdminForm admin={admin} onClose={onClose} />
    </Modal>
  )
}

function ChangeAdminForm({ admin, onClose }: ChangeAdminDialogProps) {
  const current = toValues(admin)
  const form = useForm({ initialValues: current, validate: ADMIN_RULES })
  const meanwhile = useMeanwhile(form, current)
  const [keysTo, setKeysTo] = useState<string | null>(null)
  const { access, restrictions } = form.values
  const losesKeys = admin.access === 'full' && access !== 'full'
  const change = useAction({
    run: async (values: AdminValues) => {
      const changed = changedMembers(toAdminBody(values), toAdminBody(meanwhile.saved))
      const body = { ...changed, ...(losesKeys && keysTo !== null ? { keys_to: keysTo } : {}) }
      await patchAdminUsersById({ path: { id: admin.id }, body, throwOnError: true })
    },
    done: texts.changed,
    changes: [['admin_users'], ['admin_sessions'], ['api_keys'], ['session']],
    showsFailure: true,
    onDone: onClose,
  })
  const faults = fieldFaultsOf(change.error)
  return (
    <DialogForm
      label={texts.save}
      isChanged={form.isDirty()}
      isPending={change.isPending}
      error={change.error}
      onSubmit={form.onSubmit(meanwhile.whenDecided((values) => change.mutate(values)))}
      onClose={onClose}
    >
      <MeanwhileBar meanwhile={meanwhile} words={WORDS} />
      <Group grow align="flex-start">
        <TextInput
          label={texts.firstName}
          data-autofocus
          {...form.getInputProps('firstName')}
          error={form.errors['firstName'] ?? faults?.['first_name']}
        />
        <TextInput
          label={texts.lastName}
          {...form.getInputProps('lastName')}
          error={form.errors['lastName'] ?? faults?.['last_name']}
        />
      </Group>
      <AccessFields
        access={access}
        restrictions={restrictions}
        onAccess={(next) => form.setFieldValue('access', next)}
        onRestrictions={(next) => form.setFieldValue('restrictions', next)}
      />
      {access === admin.access ? null : <Text size="sm">{texts.changeEnds}</Text>}
      {losesKeys ? (
        <>
          <Text size="sm">{texts.keysEnd}</Text>
          <KeysToSelect admin={admin} value={keysTo} onChange={setKeysTo} />
        </>
      ) : null}
    </DialogForm>
  )
}

function toValues(admin: AdminUser): AdminValues {
  const { first_name: firstName, last_name: lastName, access } = admin
  return { firstName, lastName, access, restrictions: restrictionsOf(admin) }
}
