/* Says who may sign in with a device. */
import { Modal, MultiSelect, Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { getPersonGroups, patchDevicesByIdAuthenticationMode } from '../api/generated/sdk.gen.ts'
import type { Device, PersonGroup } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { readAll } from '../kit/read-all.ts'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

type Mode = keyof typeof texts.modes

const MODES = Object.keys(texts.modes) as Mode[]
const WITH_GROUPS: Mode = 'only_registered_owner_or_group_members'

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
  const configured = device.auth_configuration
  const [mode, setMode] = useState<Mode>(configured?.authentication_mode ?? 'only_registered_owner')
  const [groups, setGroups] = useState(configured?.person_groups.map(({ id }) => id) ?? [])
  const known = useQuery({
    queryKey: ['person_groups', 'list', 'choices'],
    queryFn: ({ signal }) => readAll<PersonGroup>(getPersonGroups, signal),
  })
  const save = useAction({
    run: () =>
      patchDevicesByIdAuthenticationMode({
        path: { id: device.id },
        body: {
          authentication_mode: mode,
          ...(mode === WITH_GROUPS ? { person_group_ids: groups } : {}),
        },
        throwOnError: true,
      }),
    done: texts.modeSaved,
    changes: [['devices']],
    showsFailure: true,
    onDone: onClose,
  })
  const faultOfGroups = fieldFaultsOf(save.error)?.['person_group_ids']
  return (
    <DialogForm
      label={texts.save}
      isPending={save.isPending}
      error={faultOfGroups === undefined ? save.error : null}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Radio.Group value={mode} onChange={setMode}>
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
          data={(known.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={groups}
          onChange={setGroups}
          error={faultOfGroups}
          searchable
        />
      ) : null}
    </DialogForm>
  )
}
