/* Sends a test event and says what came of it. */
import { Alert, Modal, Text, TextInput } from '@mantine/core'
import { AlertIcon, CheckCircleFillIcon, HourglassIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { postSsfStreamsByIdTest } from '../api/generated/sdk.gen.ts'
import type { Stream, StreamTest } from '../api/generated/types.gen.ts'
import { DialogForm } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import { texts } from './texts.ts'

interface TestStreamDialogProps {
  readonly stream: Stream
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function TestStreamDialog({ stream, isOpen, onClose }: TestStreamDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.testTitle(stream.name)} size={480}>
      <TestForm stream={stream} onClose={onClose} />
    </Modal>
  )
}

function TestForm({ stream, onClose }: Omit<TestStreamDialogProps, 'isOpen'>) {
  const { id, delivery_type: type } = stream
  const ownEmail = useSession()?.admin.email ?? ''
  const [email, setEmail] = useState(ownEmail)
  const test = useAction({
    run: async () =>
      (await postSsfStreamsByIdTest({ path: { id }, body: { email }, throwOnError: true })).data,
    changes: [['ssf_streams', id], ['deliveries']],
    showsFailure: true,
  })
  const outcome = test.data
  return (
    <DialogForm
      label={texts.sendTest}
      isChanged={email !== ownEmail}
      closeLabel={texts.close}
      isPending={test.isPending}
      error={test.error}
      onSubmit={() => test.mutate()}
      onClose={onClose}
    >
      <TextInput
        type="email"
        label={texts.testEmail}
        description={type === 'push' ? texts.testPush : texts.testPoll}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
        data-autofocus
      />
      {outcome !== undefined && 'success' in outcome ? (
        <TestOutcome outcome={outcome as StreamTest} isPoll={type === 'poll'} />
      ) : null}
    </DialogForm>
  )
}

function TestOutcome({ outcome, isPoll }: { outcome: StreamTest; isPoll: boolean }) {
  if (outcome.success && isPoll) {
    return (
      <Alert color="blue" icon={<HourglassIcon />} role="status" p="xs">
        {texts.testQueued}
      </Alert>
    )
  }
  return (
    <Alert
      color={outcome.success ? 'green' : 'red'}
      icon={outcome.success ? <CheckCircleFillIcon /> : <AlertIcon />}
      role="status"
      p="xs"
    >
      <Text size="sm">
        {outcome.success
          ? texts.testGood(outcome.response_code)
          : texts.testBad(outcome.response_code)}
      </Text>
      {outcome.reason === null ? null : <Text size="sm">{outcome.reason}</Text>}
    </Alert>
  )
}
