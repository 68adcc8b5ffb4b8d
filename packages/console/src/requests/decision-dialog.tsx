/* Decides one request or many with the same reason; what failed is said, and it alone is tried again. */
import { Checkbox, Modal, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { REQUEST_KINDS, type Decision, type Refusal } from './request-kinds.ts'
import type { Kind } from './request-search.ts'
import { texts } from './texts.ts'

/** As many as the service takes with one decision. */
const AT_ONCE = 100

interface DecisionDialogProps {
  readonly kind: Kind
  readonly ids: readonly string[]
  readonly status: Decision['status']
  readonly onClose: () => void
  /** The requests that are decided. */
  readonly onDone: () => void
}

export function DecisionDialog({ kind, ids, status, onClose, onDone }: DecisionDialogProps) {
  const form = useForm({
    initialValues: { internal: '', explanation: '', expiresOn: '', coversFuture: false },
  })
  const [left, setLeft] = useState<Left>({ ids })
  const count = left.ids.length
  const isApproval = status === 'approved'
  const isExemption = kind === 'exemption'
  const decide = useAction({
    run: async () => {
      const { internal, explanation, expiresOn, coversFuture } = form.getValues()
      const expiresAt = expiresOn === '' ? null : new Date(`${expiresOn}T23:59:59`).toISOString()
      const decision = { status, internal, explanation, expiresAt, coversFuture }
      return decideAll(kind, left.ids, decision)
    },
    done: (refusals) =>
      texts.decided(count - refusals.length, isApproval ? texts.approved : texts.denied),
    changes: [[`${kind}_requests`], ['issues'], ['devices'], ['overview']],
    onDone: (refusals) => {
      if (refusals.length === 0) onDone()
      else setLeft(toLeft(refusals, count))
    },
    showsFailure: true,
  })
  return (
    <Modal
      opened
      onClose={onClose}
      size={520}
      title={isApproval ? texts.approveTitle(count) : texts.denyTitle(count)}
    >
      <DialogForm
        label={isApproval ? texts.approve : texts.deny}
        isChanged={form.isDirty()}
        isDanger={!isApproval}
        isPending={decide.isPending}
        error={decide.error ?? (decide.isPending ? null : left.error)}
        onSubmit={form.onSubmit(() => decide.mutate())}
        onClose={onClose}
      >
        <Text size="sm">{isApproval ? texts.approveHelp[kind] : texts.denyHelp[kind]}</Text>
        {kind === 'reenrollment' ? null : (
          <Textarea
            label={texts.internal}
            autosize
            minRows={2}
            required={isExemption}
            data-autofocus
            {...form.getInputProps('internal')}
          />
        )}
        {isApproval || kind === 'reenrollment' ? null : (
          <Textarea
            label={texts.explanation}
            autosize
            minRows={2}
            required
            {...form.getInputProps('explanation')}
          />
        )}
        {isApproval && isExemption ? (
          <>
            <TextInput
              type="date"
              label={texts.expiresAt}
              description={texts.expiresHelp}
              {...form.getInputProps('expiresOn')}
            />
            <Checkbox
              label={texts.future}
              {...form.getInputProps('coversFuture', { type: 'checkbox' })}
            />
          </>
        ) : null}
      </DialogForm>
    </Modal>
  )
}

/** What is still to be decided, and why it was not. */
interface Left {
  readonly ids: readonly string[]
  readonly error?: Error
}

function toLeft(refusals: readonly Refusal[], all: number): Left {
  const last = refusals.at(-1)?.message ?? ''
  const told = all === 1 ? last : `${texts.someFailed(refusals.length, all)}: ${last}`
  return { ids: refusals.map(({ id }) => id), error: new Error(told) }
}

/** Answers what could not be decided; a part whose request fails does not keep the next from being sent. */
async function decideAll(
  kind: Kind,
  ids: readonly string[],
  decision: Decision,
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = []
  for (let begin = 0; begin < ids.length; begin += AT_ONCE) {
    const part = ids.slice(begin, begin + AT_ONCE)
    try {
      refusals.push(...(await REQUEST_KINDS[kind].decide(part, decision)))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      refusals.push(...part.map((id) => ({ id, message })))
    }
  }
  return refusals
}
