/* Finds devices by name and adds them to a group. */
import { Checkbox, Loader, Modal, ScrollArea, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getDevices, postDeviceGroupsByIdMemberships } from '../api/generated/sdk.gen.ts'
import type { DeviceGroup } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import classes from './groups.module.css'
import { texts } from './texts.ts'

const PAUSE_MS = 200
const FOUND_MAX = 50

interface AddDevicesDialogProps {
  readonly group: DeviceGroup
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function AddDevicesDialog({ group, isOpen, onClose }: AddDevicesDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.addTitle(group.name)} size={520}>
      <AddDevicesForm group={group} onClose={onClose} />
    </Modal>
  )
}

function AddDevicesForm({ group, onClose }: Omit<AddDevicesDialogProps, 'isOpen'>) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [part] = useDebouncedValue(text.trim(), PAUSE_MS)
  const add = useAction({
    run: () =>
      postDeviceGroupsByIdMemberships({
        path: { id: group.id },
        body: { device_ids: [...chosen] },
        throwOnError: true,
      }),
    done: texts.added(chosen.size),
    changes: [['device_groups'], ['devices', 'list', 'group', group.id]],
    showsFailure: true,
    onDone: onClose,
  })
  const found = useQuery({
    queryKey: ['devices', 'list', 'choices', part],
    queryFn: async ({ signal }) => {
      const query = {
        per_page: FOUND_MAX,
        ...(part === '' ? {} : { query: `name~"${part.replaceAll(/[\\"]/g, '\\$&')}"` }),
      }
      return (await getDevices({ query, signal, throwOnError: true })).data.data
    },
    placeholderData: keepPreviousData,
  })
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  return (
    <DialogForm
      label={chosen.size === 0 ? texts.add : texts.addLabel(chosen.size)}
      isChanged={chosen.size > 0}
      isIncomplete={chosen.size === 0}
      isPending={add.isPending}
      error={add.error ?? found.error}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextInput
        aria-label={texts.find}
        placeholder={texts.find}
        leftSection={<SearchIcon size={14} />}
        rightSection={found.isFetching ? <Loader size={14} /> : null}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <ScrollArea h={280} className={classes.choices}>
        {found.data?.length === 0 ? (
          <Text size="sm" c="dimmed" p="md">
            {texts.nothingFound}
          </Text>
        ) : null}
        {found.data?.map(({ id, name, operating_system: system }) => (
          <Checkbox
            key={id}
            classNames={{ root: classes.choice }}
            label={name}
            description={system}
            checked={chosen.has(id)}
            onChange={() => toggle(id)}
          />
        ))}
      </ScrollArea>
    </DialogForm>
  )
}
