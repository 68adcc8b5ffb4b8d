/* Sends events of the past again, or the last change of every device. */
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { postSsfStreamsByIdBackfill, postSsfStreamsByIdReplay } from '../api/generated/sdk.gen.ts'
import type { StreamReplay } from '../api/generated/types.gen.ts'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Copyable } from '../kit/copyable.tsx'
import { Section } from '../kit/page.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { tabTexts } from './tab-texts.ts'

const { replayTab: words } = tabTexts
type From = keyof typeof words.kinds

export function ReplayTab({ id }: { readonly id: string }) {
  return (
    <>
      <Replay id={id} />
      <Backfill id={id} />
    </>
  )
}

function toReplay(from: From, value: string): StreamReplay {
  if (from === 'time') return { from_time: Math.floor(Date.parse(value) / 1000) }
  return from === 'sequence' ? { from_sequence: Number(value) } : { from_jti: value.trim() }
}

const INPUT_TYPES = { time: 'datetime-local', sequence: 'number', jti: 'text' } as const

function Replay({ id }: { readonly id: string }) {
  const [from, setFrom] = useState<From>('time')
  const [value, setValue] = useState('')
  const may = useMay(STREAMS_PERMISSION)
  const replay = useAction({
    run: async () =>
      (
        await postSsfStreamsByIdReplay({
          path: { id },
          body: toReplay(from, value),
          throwOnError: true,
        })
      ).data,
    changes: [['ssf_streams', id], ['deliveries']],
    showsFailure: true,
  })
  const answer = replay.data
  return (
    <Section title={words.title} lead={words.lead}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          replay.mutate()
        }}
      >
        <Stack maw={480}>
          <SegmentedControl
            aria-label={words.from}
            data={Object.entries(words.kinds).map(([kind, label]) => ({ value: kind, label }))}
            value={from}
            onChange={(next) => {
              setFrom(next as From)
              setValue('')
              replay.reset()
            }}
          />
          <TextInput
            label={words[from]}
            type={INPUT_TYPES[from]}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
            required
          />
          <Fault error={replay.error} />
          {answer === undefined ? null : (
            <Text size="sm" role="status">
              {words.done(answer.queued)}{' '}
              {answer.first_sequence === null || answer.last_sequence === null
                ? ''
                : words.range(answer.first_sequence, answer.last_sequence)}{' '}
              {answer.complete ? '' : words.incomplete}
            </Text>
          )}
          <Group>
            <Button type="submit" loading={replay.isPending} disabled={!may || value === ''}>
              {words.send}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function Backfill({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const may = useMay(STREAMS_PERMISSION)
  const close = () => setOpen(false)
  const backfill = useAction({
    run: async () => (await postSsfStreamsByIdBackfill({ path: { id }, throwOnError: true })).data,
    changes: [['ssf_streams', id], ['deliveries']],
    showsFailure: true,
    onDone: close,
  })
  const txn = backfill.data?.txn
  return (
    <Section title={words.backfillTitle} lead={words.backfillLead}>
      <Stack align="flex-start">
        <Button variant="default" disabled={!may} onClick={() => setOpen(true)}>
          {words.backfill}
        </Button>
        {txn === undefined ? null : (
          <Group gap="xs" role="status">
            <Text size="sm">{words.backfilled}</Text>
            <Copyable value={txn} />
            <Link to="/signals/find" search={{ query: txn }}>
              {words.follow}
            </Link>
          </Group>
        )}
      </Stack>
      <ConfirmDialog
        isOpen={isOpen}
        title={words.backfillConfirm}
        label={words.backfill}
        isPending={backfill.isPending}
        error={backfill.error}
        onConfirm={() => backfill.mutate()}
        onClose={close}
      >
        {words.backfillHelp}
      </ConfirmDialog>
    </Section>
  )
}
