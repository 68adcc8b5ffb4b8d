/* Says who may sign in with a device. */
import { Button, Group, Modal, MultiSelect, Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { getPersonGroups, patchDevicesByIdAuthenticationMode } from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
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
  const configured = device.auth_configuration
  const [mode, setMode] = useState<Mode>('only_registered_owner')
  const [groups, setGroups] = useState<readonly string[]>([])
  useEffect(() => {
    if (!isOpen) return
    setMode(configured?.authentication_mode ?? 'only_registered_owner')
    setGroups(configured?.person_groups.map(({ id }) => id) ?? [])
  }, [isOpen, configured])
  const known = useQuery({
    queryKey: ['person_groups', 'list', 'choices'],
    queryFn: async ({ signal }) =>
      (await getPersonGroups({ query: { per_page: 100 }, signal, throwOnError: true })).data.data,
    enabled: isOpen,
  })
  const save = useAction({
    run: () =>
      patchDevicesByIdAuthenticationMode({
        path: { id: device.id },
        body: {
          authentication_mode: mode,
          ...(mode === WITH_GROUPS ? { person_group_ids: [...groups] } : {}),
        },
        throwOnError: true,
      }),
    done: texts.modeSaved,
    changes: [['devices']],
    showsFailure: true,
    onDone: onClose,
  })
  const faultOfGroups =
    save.error instanceof ApiError ? save.error.fields['person_group_ids'] : undefined
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.modeTitle(device.name)} size={480}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="md">
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
              value={[...groups]}
              onChange={setGroups}
              error={faultOfGroups}
              searchable
            />
          ) : null}
          {faultOfGroups === undefined ? <Fault error={save.error} /> : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
