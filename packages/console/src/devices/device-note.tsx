/* What admins note about a device: Markdown, shown to them alone. */
import { Button, Modal, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { PencilIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import { patchDevicesById } from '../api/generated/sdk.gen.ts'
import type { Device } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { MarkdownEditor } from '../kit/markdown-editor.tsx'
import { Markdown } from '../kit/markdown.tsx'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
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
      <Modal
        opened={isEditing}
        onClose={() => setEditing(false)}
        title={texts.noteTitle(device.name)}
        size={560}
      >
        <NoteForm device={device} onClose={() => setEditing(false)} />
      </Modal>
    </Section>
  )
}

interface NoteFormProps {
  readonly device: Device
  readonly onClose: () => void
}

/** What somebody else saves meanwhile does not take away what is being written, and is not written over unseen. */
function NoteForm({ device, onClose }: NoteFormProps) {
  const current = { note: device.note ?? '' }
  const form = useForm({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const save = useAction({
    run: (body: typeof current) =>
      patchDevicesById({ path: { id: device.id }, body, throwOnError: true }),
    done: texts.noteSaved,
    changes: [['devices', device.id]],
    showsFailure: true,
    onDone: onClose,
  })
  const fault = fieldFaultsOf(save.error)?.['note']
  return (
    <DialogForm
      label={texts.save}
      isChanged={form.isDirty()}
      isPending={save.isPending}
      error={fault === undefined ? save.error : null}
      onSubmit={form.onSubmit(
        meanwhile.whenDecided((values) => {
          if (values.note === meanwhile.saved.note) onClose()
          else save.mutate(values)
        }),
      )}
      onClose={onClose}
    >
      <MeanwhileBar meanwhile={meanwhile} words={{ note: { label: texts.note } }} />
      <MarkdownEditor
        label={texts.note}
        description={texts.noteHelp}
        value={form.values.note}
        onChange={(text) => form.setFieldValue('note', text)}
        error={fault}
        maxLength={LENGTH_MAX}
        isFocused
      />
    </DialogForm>
  )
}
