/*
 * Asks for an exemption from an issue for a person, as they may do themselves at the sign-in; whoever decides does it
 * among the requests.
 */
import { Button, Checkbox, Modal, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldFaultsOf } from '../api/client.ts'
import {
  getExemptionRequests,
  getPeopleById,
  postExemptionRequests,
} from '../api/generated/sdk.gen.ts'
import type { Issue } from '../api/generated/types.gen.ts'
import { configurationQuery } from '../checks/configuration-query.ts'
import { DialogForm } from '../kit/confirm.tsx'
import type { Choice } from '../kit/record-picker.tsx'
import { Loaded } from '../kit/states.tsx'
import { useNow } from '../kit/time.tsx'
import { useAction } from '../kit/use-action.ts'
import { PersonPicker } from '../people/person-picker.tsx'
import { useMay } from '../shell/session.ts'
import { stateOf } from './issue-state.tsx'
import { texts } from './texts.ts'

const PERMISSION = 'Manage User Requests'
const MESSAGE_LENGTH_MAX = 4_000
const DIALOG_HEIGHT = 320
const TOLD_BY_FIELDS: ReadonlySet<string> = new Set(['requester_message', 'expires_at'])

/** The button on the page of an issue, with its dialog; nothing where an exemption would change nothing. */
export function AskExemption({ issue }: { readonly issue: Issue }) {
  const [isAsking, setAsking] = useState(false)
  const state = stateOf(issue, useNow())
  // Exemptions are for devices.
  const isOfDevice = issue.device_information.record !== undefined
  const wouldChange = state !== 'resolved' && state !== 'exempted'
  const close = () => setAsking(false)
  return (
    <>
      {isOfDevice && wouldChange ? <AskButton issue={issue} onAsk={() => setAsking(true)} /> : null}
      {/* What is being typed stays when the issue is resolved, or asked for by others, meanwhile. */}
      <Modal opened={isAsking} onClose={close} title={texts.askTitle} size={520}>
        <OwnedIssue issue={issue} onClose={close} />
      </Modal>
    </>
  )
}

interface AskButtonProps {
  readonly issue: Issue
  readonly onAsk: () => void
}

/** Where it is known that nothing can be asked, the button says why, or leads to what is asked already. */
function AskButton({ issue, onAsk }: AskButtonProps) {
  const may = useMay(PERMISSION)
  const configuration = useQuery({
    ...configurationQuery(issue.check_information.identifier),
    enabled: may,
  })
  const waiting = useQuery({ ...openRequestQuery(issue.id), enabled: may })
  const requestId = waiting.data ?? undefined
  if (requestId !== undefined) {
    return (
      <Button
        variant="default"
        size="xs"
        renderRoot={(props: object) => (
          <Link {...props} to="/requests" search={{ open: requestId }} />
        )}
      >
        {texts.askedAlready}
      </Button>
    )
  }
  const isDisallowed = configuration.data?.exemptions_disallowed === true
  const refusal = may
    ? isDisallowed
      ? texts.noExemptions
      : undefined
    : texts.noPermission(PERMISSION)
  const isKnown = !configuration.isPending && !waiting.isPending
  return (
    <Button
      variant="default"
      size="xs"
      disabled={refusal !== undefined || !isKnown}
      title={refusal}
      onClick={onAsk}
    >
      {texts.askExemption}
    </Button>
  )
}

/** The request for an exemption from an issue that nobody has decided yet; null where there is none. */
const openRequestQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['exemption_requests', 'list', 'of-issue', issueId],
    queryFn: async ({ signal }) => {
      const query = { query: `status:open AND issue_id:${issueId}`, per_page: 1 }
      const { data } = await getExemptionRequests({ query, signal, throwOnError: true })
      return data.data[0]?.id ?? null
    },
  })

interface AskFormProps {
  readonly issue: Issue
  readonly onClose: () => void
}

/** The owner of the device is who most likely asks; where nobody can say who that is, somebody is chosen. */
function OwnedIssue({ issue, onClose }: AskFormProps) {
  const ownerId = issue.device_information.record?.registered_owner_info.identifier ?? ''
  const query = useQuery({
    queryKey: ['people', ownerId, 'choice'],
    queryFn: async ({ signal }): Promise<Choice | null> => {
      if (ownerId === '') return null
      const request = { path: { id: ownerId }, signal, throwOnError: true } as const
      const answer = await getPeopleById(request).catch(() => undefined)
      if (answer === undefined) return null
      const { id, name, email } = answer.data
      return { value: id, label: `${name} (${email})` }
    },
  })
  return (
    <Loaded query={query} height={DIALOG_HEIGHT}>
      {(owner) => <AskForm issue={issue} owner={owner} onClose={onClose} />}
    </Loaded>
  )
}

function AskForm({ issue, owner, onClose }: AskFormProps & { readonly owner: Choice | null }) {
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { person: owner, message: '', expiresOn: '', coversFuture: false },
  })
  const { person, message } = form.values
  const ask = useAction({
    run: async ({ personId }: { readonly personId: string }) => {
      const { message: said, expiresOn, coversFuture } = form.getValues()
      const body = {
        person_id: personId,
        issue_ids: [issue.id],
        requester_message: said.trim(),
        covers_future_issues: coversFuture,
        expires_at: expiresOn === '' ? null : new Date(`${expiresOn}T23:59:59`).toISOString(),
      }
      return (await postExemptionRequests({ body, throwOnError: true })).data
    },
    done: texts.asked,
    changes: [['exemption_requests'], ['overview']],
    showsFailure: true,
    onDone: ({ id }) => {
      onClose()
      void navigate({ to: '/requests', search: { open: id } })
    },
  })
  const faults = fieldFaultsOf(ask.error)
  // Of the person and the issue the service says what is wrong below the form.
  const isToldByFields =
    faults !== null && Object.keys(faults).every((name) => TOLD_BY_FIELDS.has(name))
  return (
    <DialogForm
      label={texts.ask}
      isChanged={form.isDirty()}
      isIncomplete={person === null || message.trim() === ''}
      isPending={ask.isPending}
      error={isToldByFields ? null : ask.error}
      onSubmit={form.onSubmit(() => {
        if (person !== null) ask.mutate({ personId: person.value })
      })}
      onClose={onClose}
    >
      <Text size="sm">{texts.askHelp}</Text>
      <PersonPicker
        isWide
        value={person}
        onChange={(chosen) => form.setFieldValue('person', chosen)}
      />
      <Textarea
        label={texts.askMessage}
        description={texts.askMessageHelp}
        autosize
        minRows={2}
        maxLength={MESSAGE_LENGTH_MAX}
        data-autofocus
        {...form.getInputProps('message')}
        error={faults?.['requester_message']}
      />
      <TextInput
        type="date"
        label={texts.askExpires}
        description={texts.askExpiresHelp}
        {...form.getInputProps('expiresOn')}
        error={faults?.['expires_at']}
      />
      <Checkbox
        label={texts.askFuture}
        {...form.getInputProps('coversFuture', { type: 'checkbox' })}
      />
    </DialogForm>
  )
}
