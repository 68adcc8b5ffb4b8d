/* What can be done to a stream from its list and from its page. */
import { ActionIcon, Menu } from '@mantine/core'
import {
  BroadcastIcon,
  CircleSlashIcon,
  EyeIcon,
  KebabHorizontalIcon,
  ListUnorderedIcon,
  PaperAirplaneIcon,
  PencilIcon,
  TrashIcon,
} from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteSsfStreamsById, patchSsfStreamsById } from '../api/generated/sdk.gen.ts'
import type { Stream } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { TestStreamDialog } from './test-stream.tsx'
import { texts } from './texts.ts'

type Dialog = 'test' | 'delete' | 'switch-off'

interface StreamMenuProps {
  readonly stream: Stream
  readonly onDeleted?: () => void
}

/** Actions: view, view events, edit, switch on or off, test, delete. */
export function StreamMenu({ stream, onDeleted }: StreamMenuProps) {
  const [dialog, setDialog] = useState<Dialog>()
  const may = useMay(STREAMS_PERMISSION)
  const navigate = useNavigate()
  const close = () => setDialog(undefined)
  const { id, name, enabled } = stream
  const toggle = useToggleStream(stream, close)
  return (
    <>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <ActionIcon aria-label={texts.actionsOf(name)}>
            <KebabHorizontalIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to={`/signals/streams/${id}`} leftSection={<EyeIcon />}>
            {texts.view}
          </Menu.Item>
          <Menu.Item
            leftSection={<ListUnorderedIcon />}
            onClick={() =>
              void navigate({
                to: '/signals/streams/$streamId',
                params: { streamId: id },
                search: { tab: 'deliveries' },
              })
            }
          >
            {texts.viewEvents}
          </Menu.Item>
          <Menu.Item
            component={Link}
            to={`/signals/streams/${id}/edit`}
            leftSection={<PencilIcon />}
            disabled={!may}
          >
            {texts.edit}
          </Menu.Item>
          <Menu.Item
            leftSection={<PaperAirplaneIcon />}
            disabled={!may}
            onClick={() => setDialog('test')}
          >
            {texts.test}
          </Menu.Item>
          <Menu.Item
            leftSection={enabled ? <CircleSlashIcon /> : <BroadcastIcon />}
            disabled={!may}
            onClick={() => (enabled ? setDialog('switch-off') : toggle.mutate(true))}
          >
            {enabled ? texts.switchOff : texts.switchOn}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<TrashIcon />}
            disabled={!may}
            onClick={() => setDialog('delete')}
          >
            {texts.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <TestStreamDialog stream={stream} isOpen={dialog === 'test'} onClose={close} />
      <ConfirmDialog
        isOpen={dialog === 'switch-off'}
        title={texts.switchOffTitle(name)}
        label={texts.switchOffLabel}
        isDanger
        isPending={toggle.isPending}
        error={toggle.error}
        onConfirm={() => toggle.mutate(false)}
        onClose={close}
      >
        {texts.switchOffHelp}
      </ConfirmDialog>
      <DeleteStreamDialog
        stream={stream}
        isOpen={dialog === 'delete'}
        onClose={close}
        onDeleted={onDeleted}
      />
    </>
  )
}

/** Switches a stream on or off. */
export function useToggleStream({ id, name }: Stream, onDone?: () => void) {
  return useAction({
    run: (enabled: boolean) =>
      patchSsfStreamsById({ path: { id }, body: { enabled }, throwOnError: true }),
    done: (_, enabled) => (enabled ? texts.switchedOn(name) : texts.switchedOff(name)),
    changes: [['ssf_streams']],
    ...(onDone === undefined ? {} : { onDone }),
  })
}

interface DeleteStreamDialogProps {
  readonly stream: Stream
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onDeleted?: (() => void) | undefined
}

function DeleteStreamDialog({ stream, isOpen, onClose, onDeleted }: DeleteStreamDialogProps) {
  const { id, name } = stream
  const remove = useAction({
    run: () => deleteSsfStreamsById({ path: { id }, throwOnError: true }),
    done: texts.deleted(name),
    changes: [['ssf_streams', 'list']],
    showsFailure: true,
    onDone: () => {
      onClose()
      onDeleted?.()
    },
  })
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={texts.deleteTitle(name)}
      label={texts.deleteLabel}
      typed={name}
      isDanger
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {texts.deleteHelp}
    </ConfirmDialog>
  )
}
