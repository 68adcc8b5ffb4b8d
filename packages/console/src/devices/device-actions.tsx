/* What can be done to a device. */
import { Button, List, Menu, Text } from '@mantine/core'
import {
  ChevronDownIcon,
  PeopleIcon,
  SyncIcon,
  TerminalIcon,
  TrashIcon,
  UnlinkIcon,
  UndoIcon,
} from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  deleteDevicesById,
  deleteDevicesByIdRegistration,
  postDevicesByIdCheckRefreshes,
  postDevicesByIdDeletionCancellation,
} from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { ActionDialog } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { DeviceModeDialog } from './device-mode-dialog.tsx'
import { texts } from './texts.ts'

type Dialog = 'mode' | 'registration' | 'delete'

export function DeviceActions({ device }: { readonly device: Device }) {
  const [dialog, setDialog] = useState<Dialog>()
  const navigate = useNavigate()
  const mayUpdate = useMay('Update Devices')
  const mayRemove = useMay('Remove Devices')
  const mayRefresh = useMay('Refresh Check')
  const close = () => setDialog(undefined)
  const path = { id: device.id }
  const changes = [['devices']] as const
  const refresh = useAction({
    run: () => postDevicesByIdCheckRefreshes({ path, body: {}, throwOnError: true }),
    done: texts.refreshed,
    changes,
  })
  const keep = useAction({
    run: () => postDevicesByIdDeletionCancellation({ path, throwOnError: true }),
    done: texts.kept,
    changes,
  })
  const isRegistered = device.registered_at !== null
  return (
    <>
      <Button
        variant="default"
        leftSection={<TerminalIcon size={14} />}
        onClick={() => void navigate({ to: '/devices/$id', params: path, search: { tab: 'ask' } })}
      >
        {texts.tabs.ask}
      </Button>
      {device.deletion_due_at === null ? null : (
        <Button
          leftSection={<UndoIcon size={14} />}
          disabled={!mayRemove}
          loading={keep.isPending}
          onClick={() => keep.mutate()}
        >
          {texts.keep}
        </Button>
      )}
      <Menu position="bottom-end" width={250}>
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDownIcon size={14} />}>
            {texts.actions}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<SyncIcon />}
            disabled={!mayRefresh}
            onClick={() => refresh.mutate()}
          >
            {texts.refreshAll}
          </Menu.Item>
          <Menu.Item
            leftSection={<PeopleIcon />}
            disabled={!mayUpdate || !isRegistered}
            onClick={() => setDialog('mode')}
          >
            {texts.mode}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<UnlinkIcon />}
            disabled={!mayRemove || !isRegistered}
            onClick={() => setDialog('registration')}
          >
            {texts.endRegistration}
          </Menu.Item>
          <Menu.Item
            leftSection={<TrashIcon />}
            color="red"
            disabled={!mayRemove || device.deletion_due_at !== null}
            onClick={() => setDialog('delete')}
          >
            {texts.delete}
          </Menu.Item>
          {mayRemove && mayUpdate ? null : (
            <Text size="xs" c="dimmed" px="sm" py={6}>
              {texts.noPermission(
                [mayUpdate ? '' : 'Update Devices', mayRemove ? '' : 'Remove Devices']
                  .filter((name) => name !== '')
                  .join(', '),
              )}
            </Text>
          )}
        </Menu.Dropdown>
      </Menu>
      <DeviceModeDialog device={device} isOpen={dialog === 'mode'} onClose={close} />
      <RemoveDialogs device={device} dialog={dialog} onClose={close} />
    </>
  )
}

interface RemoveDialogsProps {
  readonly device: Device
  readonly dialog: Dialog | undefined
  readonly onClose: () => void
}

function RemoveDialogs({ device, dialog, onClose }: RemoveDialogsProps) {
  const path = { id: device.id }
  const changes = [['devices'], ['people']] as const
  return (
    <>
      <ActionDialog
        isOpen={dialog === 'registration'}
        title={texts.endRegistrationTitle(device.name)}
        label={texts.endRegistrationLabel}
        isDanger
        run={() => deleteDevicesByIdRegistration({ path, throwOnError: true })}
        done={texts.registrationEnded}
        changes={changes}
        onClose={onClose}
      >
        {texts.endRegistrationText}
      </ActionDialog>
      <ActionDialog
        isOpen={dialog === 'delete'}
        title={texts.deleteTitle(device.name)}
        label={texts.deleteLabel}
        isDanger
        run={() => deleteDevicesById({ path, throwOnError: true })}
        done={texts.deleted}
        changes={changes}
        onClose={onClose}
      >
        <List size="sm" spacing={4}>
          {texts.deleteTexts.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      </ActionDialog>
    </>
  )
}
