/* What admins note about a device: Markdown, shown to them alone. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { PencilIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { patchDevicesById } from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { MarkdownEditor } from '../kit/markdown-editor.tsx'
import { Markdown } from '../kit/markdown.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { texts } from './texts.ts'

const LENGTH_MAX = 10_000

export function DeviceNote({ device }: { readonly device: Device }) {
  const [isEditing, setEditing] = useState(false)
  const may = useMay('Update Devices')
  const { note } = device
  return (
    <Section
      title={texts.note}
      actions={
        <Button
          variant="default"
          size="xs"
          leftSection={<PencilIcon size={13} />}
          disabled={!may}
          title={may ? undefined : texts.noPermission('Update Devices')}
          onClick={() => setEditing(true)}
        >
          {note === null ? texts.addNote : texts.editNote}
        </Button>
      }
    >
      {note === null ? (
        <Text size="sm" c="dimmed">
          {texts.noNote}
        </Text>
      ) : (
        <Markdown text={note} />
      )}
      <NoteDialog device={device} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Section>
  )
}

interface NoteDialogProps {
  readonly device: Device
  readonly isOpen: boolean
  readonly onClose: () => void
}

function NoteDialog({ device, isOpen, onClose }: NoteDialogProps) {
  const [text, setText] = useState('')
  const { note } = device
  // What somebody else saves meanwhile does not take away what is being written.
  useEffect(() => {
    if (isOpen) setText(note ?? '')
  }, [isOpen])
  const save = useAction({
    run: () =>
      patchDevicesById({ path: { id: device.id }, body: { note: text }, throwOnError: true }),
    done: texts.noteSaved,
    changes: [['devices', device.id]],
    showsFailure: true,
    onDone: onClose,
  })
  const fault = save.error instanceof ApiError ? save.error.fields['note'] : undefined
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.noteTitle(device.name)} size={560}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!save.isPending) save.mutate()
        }}
      >
        <Stack gap="md">
          <MarkdownEditor
            label={texts.note}
            description={texts.noteHelp}
            value={text}
            onChange={setText}
            error={fault}
            maxLength={LENGTH_MAX}
            isFocused
          />
          {fault === undefined ? <Fault error={save.error} /> : null}
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
