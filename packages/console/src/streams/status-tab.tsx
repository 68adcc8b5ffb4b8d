/* Sets the status of a stream, with a reason that the receiver is told. */
import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { postSsfStreamsStatus } from '../api/generated/sdk.gen.ts'
import type { Stream } from '../api/generated/types.gen.ts'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { tabTexts } from './tab-texts.ts'
import { texts } from './texts.ts'

const { statusTab: words } = tabTexts
const STATUSES = ['enabled', 'paused', 'disabled'] as const

export function StatusTab({ stream }: { readonly stream: Stream }) {
  // What nobody has touched here follows the stream.
  const [chosen, setChosen] = useState<Stream['status']>()
  const [written, setWritten] = useState<string>()
  const status = chosen ?? stream.status
  const reason = written ?? stream.status_reason ?? ''
  const [isAsking, setAsking] = useState(false)
  const may = useMay(STREAMS_PERMISSION)
  const close = () => setAsking(false)
  const change = useAction({
    run: () =>
      postSsfStreamsStatus({
        body: { stream_id: stream.stream_id, status, reason: reason.trim() || null },
        throwOnError: true,
      }),
    done: words.saved(texts.statuses[status]),
    changes: [['ssf_streams']],
    showsFailure: true,
    onDone: () => {
      close()
      setChosen(undefined)
      setWritten(undefined)
    },
  })
  const isSame = status === stream.status && reason.trim() === (stream.status_reason ?? '')
  return (
    <Section title={words.title} lead={words.lead}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (status === 'disabled' && stream.status !== 'disabled') setAsking(true)
          else change.mutate()
        }}
      >
        <Stack maw={520}>
          <SegmentedControl
            aria-label={words.title}
            data={STATUSES.map((value) => ({ value, label: texts.statuses[value] }))}
            value={status}
            onChange={(value) => setChosen(value === stream.status ? undefined : value)}
            disabled={!may}
          />
          <TextInput
            label={words.reason}
            description={words.reasonHelp}
            value={reason}
            onChange={(event) => setWritten(event.currentTarget.value)}
            maxLength={500}
            disabled={!may}
          />
          {isAsking ? null : <Fault error={change.error} />}
          <Group>
            <Button type="submit" disabled={!may || isSame} loading={change.isPending}>
              {words.set}
            </Button>
          </Group>
        </Stack>
      </form>
      <ConfirmDialog
        isOpen={isAsking}
        title={words.gateTitle}
        label={words.gateLabel}
        isDanger
        isPending={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate()}
        onClose={close}
      >
        {words.gateHelp}
      </ConfirmDialog>
    </Section>
  )
}
