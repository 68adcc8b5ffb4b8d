/* Says who may sign in with a device. */
import { Modal, MultiSelect, Radio, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { fieldFaultsOf } from '../api/client.ts'
import { getPersonGroups, patchDevicesByIdAuthenticationMode } from '../api/generated/sdk.gen.ts'
import type { Device, PersonGroup } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
import { readAll } from '../kit/read-all.ts'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

type Mode = keyof typeof texts.modes

const MODES = Object.keys(texts.modes) as Mode[]
const WITH_GROUPS: Mode = 'only_registered_owner_or_group_members'

interface ModeValues {
  mode: Mode
  groups: string[]
}

interface DeviceModeDialogProps {
  readonly device: Device
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function DeviceModeDialog({ device, isOpen, onClose }: DeviceModeDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.modeTitle(device.name)} size={480}>
      <ModeForm device={device} onClose={onClose} />
    </Modal>
  )
}

function ModeForm({ device, onClose }: Omit<DeviceModeDialogProps, 'isOpen'>) {
  const current = toValues(device)
  const form = useForm<ModeValues>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const { mode } = form.values
  const known = useQuery({
    queryKey: ['person_groups', 'list', 'choices'],
    queryFn: ({ signal }) => readAll<PersonGroup>(getPersonGroups, signal),
  })
  const save = useAction({
    run: (body: ReturnType<typeof toChanges>) =>
      patchDevicesByIdAuthenticationMode({ path: { id: device.id }, body, throwOnError: true }),
    done: texts.modeSaved,
    changes: [['devices']],
    showsFailure: true,
    onDone: onClose,
  })
  const faultOfGroups = fieldFaultsOf(save.error)?.['person_group_ids']
  return (
    <DialogForm
      label={texts.save}
      isChanged={form.isDirty()}
      isPending={save.isPending}
      error={faultOfGroups === undefined ? save.error : null}
      onSubmit={form.onSubmit(
        meanwhile.whenDecided((values) => {
          if (isUnchanged(values, meanwhile.saved)) onClose()
          else save.mutate(toChanges(values, meanwhile.saved))
        }),
      )}
      onClose={onClose}
    >
      <MeanwhileBar
        meanwhile={meanwhile}
        words={{
          mode: { label: texts.modeLabel, tell: (saved) => texts.modes[saved] },
          groups: {
            label: texts.groups,
            tell: (ids) => nameGroups(ids, groupsOf(device, known.data)),
          },
        }}
      />
      <Radio.Group {...form.getInputProps('mode')}>
        <Stack gap="sm">
          {MODES.map((each) => (
            <Radio
              key={each}
              value={each}
              label={texts.modes[each]}
              description={texts.modesHelp[each]}
            />
          ))}
        </Stack>
      </Radio.Group>
      {mode === WITH_GROUPS ? (
        <MultiSelect
          label={texts.groups}
          description={texts.groupsHelp}
          data={(known.data ?? groupsOf(device)).map(({ id, name }) => ({
            value: id,
            label: name,
          }))}
          {...form.getInputProps('groups')}
          error={faultOfGroups}
          searchable
        />
      ) : null}
    </DialogForm>
  )
}

function toValues({ auth_configuration: configured }: Device): ModeValues {
  return {
    mode: configured?.authentication_mode ?? 'only_registered_owner',
    groups: configured?.person_groups.map(({ id }) => id) ?? [],
  }
}

/** The groups that have a name here: those that can be chosen, and those that the device has. */
function groupsOf(device: Device, known: readonly PersonGroup[] = []) {
  return [...known, ...(device.auth_configuration?.person_groups ?? [])]
}

function nameGroups(
  ids: readonly string[],
  groups: readonly { readonly id: string; readonly name: string }[],
): string {
  const names = ids.map((id) => groups.find((group) => group.id === id)?.name ?? id)
  return names.length === 0 ? texts.noGroup : names.join(', ')
}

/** The mode with the groups, where these were changed here: groups that are left out stay as they are. */
function toChanges(values: ModeValues, saved: ModeValues) {
  const { groups } = changedMembers(values, saved)
  return {
    authentication_mode: values.mode,
    ...(values.mode === WITH_GROUPS && groups !== undefined ? { person_group_ids: groups } : {}),
  }
}

function isUnchanged(values: ModeValues, saved: ModeValues): boolean {
  return Object.keys(changedMembers(values, saved)).length === 0
}
