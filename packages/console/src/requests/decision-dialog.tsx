/* Decides one request or many with the same reason; what failed is said and stays chosen. */
import { Checkbox, Modal, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { REQUEST_KINDS, type Decision } from './request-kinds.ts'
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
  const isApproval = status === 'approved'
  const isExemption = kind === 'exemption'
  const decide = useAction({
    run: async () => {
      const { internal, explanation, expiresOn, coversFuture } = form.getValues()
      const expiresAt = expiresOn === '' ? null : new Date(`${expiresOn}T23:59:59`).toISOString()
      const decision = { status, internal, explanation, expiresAt, coversFuture }
      await decideAll(kind, ids, decision)
    },
    done: texts.decided(ids.length, isApproval ? texts.approved : texts.denied),
    changes: [[`${kind}_requests`], ['issues'], ['devices'], ['overview']],
    onDone,
    showsFailure: true,
  })
  return (
    <Modal
      opened
      onClose={onClose}
      size={520}
      title={isApproval ? texts.approveTitle(ids.length) : texts.denyTitle(ids.length)}
    >
      <DialogForm
        label={isApproval ? texts.approve : texts.deny}
        isDanger={!isApproval}
        isPending={decide.isPending}
        error={decide.error}
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

/** Throws what the service said last when it refused some. */
async function decideAll(kind: Kind, ids: readonly string[], decision: Decision): Promise<void> {
  const refusals: string[] = []
  for (let begin = 0; begin < ids.length; begin += AT_ONCE) {
    refusals.push(
      ...(await REQUEST_KINDS[kind].decide(ids.slice(begin, begin + AT_ONCE), decision)),
    )
  }
  const last = refusals.at(-1)
  if (last === undefined) return
  const told = ids.length === 1 ? last : `${texts.someFailed(refusals.length, ids.length)}: ${last}`
  throw new Error(told)
}
