/* Whom a stream tells of: what was added and removed, by its receiver or here. */
import { Button, Modal, SegmentedControl, Text } from '@mantine/core'
import { PeopleIcon } from '@primer/octicons-react'
import { useState } from 'react'
import {
  getSsfStreamsByIdSubjects,
  postSsfStreamsByIdAddSubject,
  postSsfStreamsByIdRemoveSubject,
} from '../api/generated/sdk.gen.ts'
import type {
  PostSsfStreamsByIdAddSubjectData,
  Stream,
  StreamSubject,
} from '../api/generated/types.gen.ts'
import { describeSubject } from '../deliveries/subject.ts'
import { DevicePicker } from '../devices/device-picker.tsx'
import { ConfirmDialog, DialogForm } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { RecordLink } from '../kit/record-link.tsx'
import type { Choice } from '../kit/record-picker.tsx'
import { ShortTable } from '../kit/short-table.tsx'
import { EmptyState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import { useAction } from '../kit/use-action.ts'
import type { Column } from '../kit/use-columns.ts'
import { useList } from '../kit/use-list.ts'
import { PersonPicker } from '../people/person-picker.tsx'
import { useMay } from '../shell/session.ts'
import { STREAMS_PERMISSION } from './stream-queries.ts'
import { tabTexts } from './tab-texts.ts'

const { subjectsTab: words } = tabTexts

type Subject = PostSsfStreamsByIdAddSubjectData['body']
type Word = 'add' | 'remove'

export function SubjectsTab({ stream }: { readonly stream: Stream }) {
  const { id, default_subjects: begins } = stream
  const [word, setWord] = useState<Word>('remove')
  const [isOpen, setOpen] = useState(false)
  const may = useMay(STREAMS_PERMISSION)
  const list = useList(['ssf_streams', id, 'subjects'], (page) =>
    getSsfStreamsByIdSubjects({ ...page, path: { id } }),
  )
  const ask = (next: Word) => {
    setWord(next)
    setOpen(true)
  }
  const button = (next: Word, isUsual: boolean) => (
    <Button key={next} disabled={!may} onClick={() => ask(next)} {...(isUsual ? {} : QUIET)}>
      {words[next]}
    </Button>
  )
  return (
    <Section
      title={words.title}
      lead={words.leads[begins]}
      isFlush
      actions={
        begins === 'ALL'
          ? [button('add', false), button('remove', true)]
          : [button('remove', false), button('add', true)]
      }
    >
      <ShortTable
        name={words.title}
        columns={columnsOf(id, may)}
        list={list}
        rowId={(subject) => subject.id}
        empty={
          <EmptyState icon={PeopleIcon} title={words.none[begins]}>
            {words.noneHelp[begins]}
          </EmptyState>
        }
      />
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={word === 'add' ? words.addTitle(stream.name) : words.removeTitle(stream.name)}
        size={480}
      >
        <SubjectForm id={id} word={word} onClose={() => setOpen(false)} />
      </Modal>
    </Section>
  )
}

const QUIET = { variant: 'default' } as const

function columnsOf(id: string, may: boolean): readonly Column<StreamSubject>[] {
  return [
    {
      id: 'subject',
      header: words.subject,
      narrow: true,
      cell: (subject) => <Named subject={subject} />,
    },
    {
      id: 'identifier',
      header: words.identifier,
      cell: ({ subject }) => <code>{`${subject.format} ${describeSubject(subject)}`}</code>,
    },
    {
      id: 'word',
      header: words.word,
      narrow: true,
      cell: ({ included }) => (
        <StateBadge tone={included ? 'good' : 'unknown'} isPlain>
          {included ? words.words.added : words.words.removed}
        </StateBadge>
      ),
    },
    { id: 'since', header: words.since, cell: ({ created_at: at }) => <Time at={at} /> },
    {
      id: 'actions',
      header: words.actions,
      narrow: true,
      cell: (subject) => <TurnButton id={id} subject={subject} isDisabled={!may} />,
    },
  ]
}

function Named({ subject: { subject, device, person } }: { readonly subject: StreamSubject }) {
  if (device === null && person === null) return describeSubject(subject)
  return (
    <>
      {device === null ? null : (
        <RecordLink kind="device" id={device.id}>
          {device.name}
        </RecordLink>
      )}
      {device === null || person === null ? null : ' · '}
      {person === null ? null : (
        <RecordLink kind="person" id={person.id}>
          {person.name}
        </RecordLink>
      )}
    </>
  )
}

function useWord(id: string, word: Word, onDone: () => void) {
  const send = word === 'add' ? postSsfStreamsByIdAddSubject : postSsfStreamsByIdRemoveSubject
  return useAction({
    run: (body: Subject) => send({ path: { id }, body, throwOnError: true }),
    done: word === 'add' ? words.added : words.removed,
    changes: [['ssf_streams', id]],
    showsFailure: true,
    onDone,
  })
}

interface TurnButtonProps {
  readonly id: string
  readonly subject: StreamSubject
  readonly isDisabled: boolean
}

/** Says the contrary of what was said. */
function TurnButton({ id, subject, isDisabled }: TurnButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const word = subject.included ? 'remove' : 'add'
  const say = useWord(id, word, close)
  const name = subject.device?.name ?? subject.person?.name ?? describeSubject(subject.subject)
  const label = word === 'add' ? words.addOf(name) : words.removeOf(name)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={isDisabled}
        aria-label={label}
        onClick={() => setOpen(true)}
      >
        {word === 'add' ? words.addAgain : words.removeAgain}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        title={word === 'add' ? words.addOfTitle(name) : words.removeOfTitle(name)}
        label={word === 'add' ? words.add : words.remove}
        isDanger={word === 'remove'}
        isPending={say.isPending}
        error={say.error}
        onConfirm={() => say.mutate({ subject: subject.subject })}
        onClose={close}
      >
        {word === 'add' ? words.addHelp : words.removeHelp}
      </ConfirmDialog>
    </>
  )
}

const KINDS = [
  { value: 'device', label: words.kinds.device },
  { value: 'person', label: words.kinds.person },
] as const

type Kind = (typeof KINDS)[number]['value']

interface SubjectFormProps {
  readonly id: string
  readonly word: Word
  readonly onClose: () => void
}

function SubjectForm({ id, word, onClose }: SubjectFormProps) {
  const [kind, setKind] = useState<Kind>('device')
  const [chosen, setChosen] = useState<Choice | null>(null)
  const say = useWord(id, word, onClose)
  const picker = { value: chosen, onChange: setChosen, isWide: true }
  return (
    <DialogForm
      label={words[word]}
      isChanged={chosen !== null}
      isDanger={word === 'remove'}
      isIncomplete={chosen === null}
      isPending={say.isPending}
      error={say.error}
      onSubmit={() => {
        if (chosen === null) return
        say.mutate(kind === 'device' ? { device_id: chosen.value } : { person_id: chosen.value })
      }}
      onClose={onClose}
    >
      <Text size="sm">{word === 'add' ? words.addHelp : words.removeHelp}</Text>
      <SegmentedControl
        aria-label={words.kind}
        data={[...KINDS]}
        value={kind}
        onChange={(next) => {
          setKind(next)
          setChosen(null)
        }}
      />
      {kind === 'device' ? <DevicePicker {...picker} isFirst /> : <PersonPicker {...picker} />}
    </DialogForm>
  )
}
