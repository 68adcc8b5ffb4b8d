import { Modal, MultiSelect, NumberInput, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getSsfStreams, postSsfSigningKeysRotate } from '../api/generated/sdk.gen.ts'
import type { Stream } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { readAll } from '../kit/read-all.ts'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

/** How long what was used before goes on, unless another time is entered. */
const OVERLAP_HOURS = 24

interface RotateDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Publishes a new key, for some streams first. */
export function RotateDialog({ isOpen, onClose }: RotateDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.rotateTitle} size={480}>
      <RotateForm onClose={onClose} />
    </Modal>
  )
}

function RotateForm({ onClose }: Pick<RotateDialogProps, 'onClose'>) {
  const [canaries, setCanaries] = useState<string[]>([])
  const [hours, setHours] = useState<number | string>(OVERLAP_HOURS)
  const { data: streams = [] } = useQuery({
    queryKey: ['ssf_streams', 'list', 'canaries'],
    queryFn: ({ signal }) => readAll<Stream>(getSsfStreams, signal),
  })
  const rotate = useAction({
    run: () =>
      postSsfSigningKeysRotate({
        body:
          canaries.length === 0 ? {} : { canary_stream_ids: canaries, canary_hours: Number(hours) },
        throwOnError: true,
      }),
    done: texts.rotated,
    changes: [['ssf_signing_keys'], ['ssf_streams']],
    showsFailure: true,
    onDone: onClose,
  })
  return (
    <DialogForm
      label={texts.rotate}
      isChanged={hours !== OVERLAP_HOURS || canaries.length > 0}
      isPending={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{texts.rotateHelp}</Text>
      <MultiSelect
        label={texts.canaries}
        description={texts.canariesHelp}
        data={streams.map(({ id, name }) => ({ value: id, label: name }))}
        value={canaries}
        onChange={setCanaries}
        searchable
        nothingFoundMessage={texts.noStream}
        clearable
      />
      {canaries.length === 0 ? null : (
        <NumberInput label={texts.hours} min={1} value={hours} onChange={setHours} />
      )}
    </DialogForm>
  )
}
