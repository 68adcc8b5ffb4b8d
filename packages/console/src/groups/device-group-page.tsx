/* One group of devices and its members. */
import { Button } from '@mantine/core'
import { DeviceDesktopIcon, PencilIcon, PlusIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import {
  deleteDeviceGroupsById,
  deleteDeviceGroupsByIdMembershipsByDeviceId,
  getDeviceGroupsById,
  getDeviceGroupsByIdDevices,
} from '../api/generated/sdk.gen.ts'
import type { Device, DeviceGroup } from '../api/generated/types.gen.ts'
import { DEVICE_COLUMNS } from '../devices/device-columns.tsx'
import { ActionDialog, ConfirmDialog } from '../kit/confirm.tsx'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { LoadedPage } from '../kit/loaded-page.tsx'
import { Page } from '../kit/page.tsx'
import { SearchBar } from '../kit/search-bar.tsx'
import { EmptyState } from '../kit/states.tsx'
import { useAction } from '../kit/use-action.ts'
import { useAddressSearch } from '../kit/use-address-search.ts'
import { useList } from '../kit/use-list.ts'
import { useMay } from '../shell/session.ts'
import { AddDevicesDialog } from './add-devices-dialog.tsx'
import { GroupDialog } from './group-dialog.tsx'
import { texts } from './texts.ts'

const ABOVE = [{ label: texts.title, to: '/groups' }]

/** The serial makes room for what takes a device out of the group. */
const CHANGEABLE_COLUMNS = DEVICE_COLUMNS.map((column) =>
  column.id === 'serial' ? { ...column, hidden: true } : column,
)

export function DeviceGroupPage() {
  const { id } = useParams({ from: '/frame/groups/$id' })
  const query = useQuery({
    queryKey: ['device_groups', id],
    queryFn: async ({ signal }) =>
      (await getDeviceGroupsById({ path: { id }, signal, throwOnError: true })).data,
  })
  return (
    <LoadedPage query={query} title={texts.title} above={ABOVE}>
      {(group) => <GroupOfDevices group={group} />}
    </LoadedPage>
  )
}

type Dialog = 'edit' | 'delete' | 'add'

function GroupOfDevices({ group }: { readonly group: DeviceGroup }) {
  const { id, name, members_count: members, description } = group
  const [dialog, setDialog] = useState<Dialog>()
  const navigate = useNavigate()
  const may = useMay('Manage Device Groups')
  const close = () => setDialog(undefined)
  const title = may ? undefined : texts.permission
  return (
    <Page
      title={name}
      above={ABOVE}
      lead={description === '' ? texts.lead(members) : description}
      isFilling
      actions={
        <>
          <Button
            variant="default"
            leftSection={<TrashIcon size={14} />}
            disabled={!may}
            title={title}
            onClick={() => setDialog('delete')}
          >
            {texts.delete}
          </Button>
          <Button
            variant="default"
            leftSection={<PencilIcon size={14} />}
            disabled={!may}
            title={title}
            onClick={() => setDialog('edit')}
          >
            {texts.edit}
          </Button>
          <Button
            leftSection={<PlusIcon size={14} />}
            disabled={!may}
            title={title}
            onClick={() => setDialog('add')}
          >
            {texts.add}
          </Button>
        </>
      }
    >
      <Members groupId={id} mayChange={may} />
      <GroupDialog group={group} isOpen={dialog === 'edit'} onClose={close} />
      <AddDevicesDialog group={group} isOpen={dialog === 'add'} onClose={close} />
      <ActionDialog
        isOpen={dialog === 'delete'}
        title={texts.deleteTitle(name)}
        label={texts.deleteLabel}
        isDanger
        run={() => deleteDeviceGroupsById({ path: { id }, throwOnError: true })}
        done={texts.deleted}
        changes={[['device_groups', 'list']]}
        onDone={() => void navigate({ to: '/groups' })}
        onClose={close}
      >
        {texts.deleteText}
      </ActionDialog>
    </Page>
  )
}

interface MembersProps {
  readonly groupId: string
  readonly mayChange: boolean
}

function Members({ groupId, mayChange }: MembersProps) {
  const { query, search } = useAddressSearch()
  const navigate = useNavigate()
  const list = useList(
    ['devices', 'list', 'group', groupId],
    (page) =>
      getDeviceGroupsByIdDevices({
        ...page,
        path: { id: groupId },
        query: { ...page.query, expand: 'owner' },
      }),
    query,
  )
  const [removed, setRemoved] = useState<Device>()
  const close = () => setRemoved(undefined)
  const remove = useAction({
    run: (device: Device) =>
      deleteDeviceGroupsByIdMembershipsByDeviceId({
        path: { id: groupId, device_id: device.id },
        throwOnError: true,
      }),
    done: (_, { name }) => texts.removed(name),
    changes: [['device_groups'], ['devices', 'list', 'group', groupId]],
    showsFailure: true,
    onDone: close,
  })
  const columns = useMemo<readonly Column<Device>[]>(() => {
    const removing: Column<Device> = {
      id: 'remove',
      header: '',
      width: '88px',
      narrow: true,
      cell: (device) => (
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={texts.removeOf(device.name)}
          onClick={() => setRemoved(device)}
        >
          {texts.remove}
        </Button>
      ),
    }
    return mayChange ? [...CHANGEABLE_COLUMNS, removing] : DEVICE_COLUMNS
  }, [mayChange])
  return (
    <>
      <DataTable
        name={texts.members}
        columns={columns}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/devices/$id', params: { id } })}
        toolbar={
          <SearchBar
            path="/device_groups/{id}/devices"
            value={query}
            fault={list.searchFault}
            onChange={search}
          />
        }
        empty={
          <EmptyState icon={DeviceDesktopIcon} title={texts.noMembers}>
            {texts.noMembersHelp}
          </EmptyState>
        }
      />
      <ConfirmDialog
        isOpen={removed !== undefined}
        title={texts.removeTitle(removed?.name ?? '')}
        label={texts.removeLabel}
        isDanger
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => removed !== undefined && remove.mutate(removed)}
        onClose={close}
      >
        {texts.removeHelp}
      </ConfirmDialog>
    </>
  )
}
