/* Creates a key, or changes what one is called, who answers for it and what it may do. */
import { Checkbox, Modal, ScrollArea, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { getAdminUsers, patchApiKeysById, postApiKeys } from '../api/generated/sdk.gen.ts'
import type { ApiKey, ApiKeyWithSecret } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile, type FieldWords } from '../kit/meanwhile.tsx'
import { RecordPicker, type Choice } from '../kit/record-picker.tsx'
import { quoteText } from '../kit/search-text.ts'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import { DryRun } from './dry-run.tsx'
import classes from './key-dialog.module.css'
import { texts } from './texts.ts'

interface KeyDialogProps {
  readonly isOpen: boolean
  /** The key to change; a new one is created when left out. */
  readonly apiKey?: ApiKey
  readonly onClose: () => void
  readonly onIssued?: (key: ApiKeyWithSecret) => void
}

interface KeyForm {
  name: string
  responsible: string
  expires: string
  /** The reason of each permission that is granted. */
  permissions: Record<string, string>
}

const WORDS: FieldWords<KeyForm> = {
  name: { label: texts.name },
  responsible: { label: texts.responsible },
  expires: { label: texts.expires },
  permissions: { label: texts.permissions, tell: tellPermissions },
}

export function KeyDialog({ isOpen, apiKey, onClose, onIssued }: KeyDialogProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={apiKey === undefined ? texts.createTitle : texts.editTitle(apiKey.name)}
      size={600}
      scrollAreaComponent={ScrollArea.Autosize}
    >
      <KeyFields apiKey={apiKey} onClose={onClose} onIssued={onIssued} />
    </Modal>
  )
}

interface KeyFieldsProps {
  readonly apiKey: ApiKey | undefined
  readonly onClose: () => void
  readonly onIssued: ((key: ApiKeyWithSecret) => void) | undefined
}

function KeyFields({ apiKey, onClose, onIssued }: KeyFieldsProps) {
  const session = useSession()
  const current = apiKey === undefined ? newKey(session?.admin.email ?? '') : toForm(apiKey)
  const form = useForm<KeyForm>({
    initialValues: current,
    validate: {
      name: (name) => (name.trim() === '' ? texts.nameHelp : null),
      responsible: (email) => (email === '' ? texts.responsibleHelp : null),
    },
  })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: async (values: KeyForm) => {
      const body = toBody(values)
      if (apiKey !== undefined) {
        const changed = changedMembers(body, toBody(meanwhile.saved))
        await patchApiKeysById({ path: { id: apiKey.id }, body: changed, throwOnError: true })
        return undefined
      }
      const end = values.expires === '' ? null : new Date(values.expires).toISOString()
      return (await postApiKeys({ body: { ...body, expires_at: end }, throwOnError: true })).data
    },
    done: apiKey === undefined ? texts.wasCreated : texts.saved,
    changes: [['api_keys']],
    showsFailure: true,
    onDone: (issued) => {
      onClose()
      if (issued !== undefined) onIssued?.(issued)
    },
  })
  const submit = form.onSubmit((values) => {
    const missing = Object.entries(values.permissions).filter(([, reason]) => reason.trim() === '')
    for (const [permission] of missing) {
      form.setFieldError(`permissions.${permission}`, texts.rationaleMissing)
    }
    if (missing.length === 0) meanwhile.whenDecided(save.mutate)(values)
  })
  const faults = save.error instanceof ApiError ? save.error.fields : {}
  return (
    <DialogForm
      label={apiKey === undefined ? texts.create : texts.save}
      isChanged={form.isDirty()}
      isPending={save.isPending}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <MeanwhileBar meanwhile={meanwhile} words={WORDS} />
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        data-autofocus
        {...form.getInputProps('name')}
        error={form.errors['name'] ?? faults['name']}
      />
      <ResponsibleSelect
        value={form.values.responsible}
        error={form.errors['responsible'] ?? faults['responsible_email']}
        onChange={(email) => form.setFieldValue('responsible', email)}
      />
      {apiKey === undefined ? (
        <TextInput
          label={texts.expires}
          description={texts.expiresHelp}
          type="datetime-local"
          {...form.getInputProps('expires')}
          error={faults['expires_at']}
        />
      ) : null}
      <PermissionChoice
        granted={form.values.permissions}
        errors={form.errors}
        onChange={(permissions) => form.setFieldValue('permissions', permissions)}
      />
      {apiKey === undefined ? null : (
        <DryRun apiKeyId={apiKey.id} permissions={Object.keys(form.values.permissions)} />
      )}
    </DialogForm>
  )
}

/** Each permission with its reason. */
function tellPermissions(permissions: KeyForm['permissions']): string {
  const told = Object.entries(permissions).map(([name, reason]) => `${name} (${reason})`)
  return told.length === 0 ? texts.readOnly : told.sort().join(', ')
}

function newKey(responsible: string): KeyForm {
  return { name: '', responsible, expires: '', permissions: {} }
}

function toForm(key: ApiKey): KeyForm {
  return {
    name: key.name,
    responsible: key.responsible_email ?? '',
    expires: '',
    permissions: Object.fromEntries(
      key.permissions.map(({ permission, rationale }) => [permission, rationale]),
    ),
  }
}

function toBody({ name, responsible, permissions }: KeyForm) {
  return {
    name: name.trim(),
    responsible_email: responsible,
    // In one order: what was taken and given again has not changed.
    permissions: Object.keys(permissions)
      .sort()
      .map((permission) => ({ permission, rationale: permissions[permission]?.trim() ?? '' })),
  }
}

interface ResponsibleSelectProps {
  readonly value: string
  readonly error: React.ReactNode
  readonly onChange: (email: string) => void
}

const FOUND_MAX = 50

function ResponsibleSelect({ value, error, onChange }: ResponsibleSelectProps) {
  const [known, setKnown] = useState<Choice>({ value, label: value })
  return (
    <RecordPicker
      label={texts.responsible}
      description={texts.responsibleHelp}
      nothingFound={texts.noResponsible}
      isWide
      value={value === '' ? null : { value, label: known.value === value ? known.label : value }}
      onChange={(admin) => {
        if (admin !== null) setKnown(admin)
        onChange(admin?.value ?? '')
      }}
      error={error}
      queryKey={['admin_users', 'list', 'responsible']}
      find={findResponsible}
    />
  )
}

/** Only admins with Full Access answer for keys. */
async function findResponsible(text: string, signal: AbortSignal): Promise<Choice[]> {
  const part = quoteText(text)
  const names = ['first_name', 'last_name', 'email'].map((name) => `${name}~${part}`)
  const query = { per_page: FOUND_MAX, ...(text === '' ? {} : { query: names.join(' OR ') }) }
  const { data } = await getAdminUsers({ query, signal, throwOnError: true })
  return data.data
    .filter(({ access, deactivated_at: end }) => access === 'full' && end === null)
    .map((admin) => ({
      value: admin.email,
      label: `${admin.first_name} ${admin.last_name} (${admin.email})`,
    }))
}

interface PermissionChoiceProps {
  readonly granted: Readonly<Record<string, string>>
  readonly errors: Readonly<Record<string, React.ReactNode>>
  readonly onChange: (granted: Record<string, string>) => void
}

/** What can be granted is what the admin holds. */
function PermissionChoice({ granted, errors, onChange }: PermissionChoiceProps) {
  const held = useSession()?.permissions ?? []
  const permissions = [...new Set([...held, ...Object.keys(granted)])].sort()
  return (
    <fieldset className={classes.permissions}>
      <Text component="legend" size="sm" fw={500}>
        {texts.special}
      </Text>
      {permissions.map((permission) => {
        const rationale = granted[permission]
        return (
          <div key={permission} className={classes.permission}>
            <Checkbox
              label={permission}
              checked={rationale !== undefined}
              onChange={({ currentTarget }) => {
                onChange(
                  currentTarget.checked
                    ? { ...granted, [permission]: '' }
                    : Object.fromEntries(
                        Object.entries(granted).filter(([name]) => name !== permission),
                      ),
                )
              }}
            />
            {rationale === undefined ? null : (
              <TextInput
                aria-label={`${texts.rationale}: ${permission}`}
                placeholder={texts.rationale}
                value={rationale}
                error={errors[`permissions.${permission}`]}
                onChange={({ currentTarget }) =>
                  onChange({ ...granted, [permission]: currentTarget.value })
                }
              />
            )}
          </div>
        )
      })}
    </fieldset>
  )
}
