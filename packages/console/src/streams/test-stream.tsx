/* Sends a test event and says what came of it. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { AlertIcon, CheckCircleFillIcon, HourglassIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { postSsfStreamsByIdTest } from '../api/generated/sdk.gen.ts'
import type { Stream, StreamTest } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { useSession } from '../shell/session.ts'
import { texts } from './texts.ts'

interface TestStreamDialogProps {
  readonly stream: Stream
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function TestStreamDialog({ stream, isOpen, onClose }: TestStreamDialogProps) {
  const address = useSession()?.admin.email ?? ''
  const [email, setEmail] = useState(address)
  const test = useAction({
    run: async () =>
      (
        await postSsfStreamsByIdTest({
          path: { id: stream.id },
          body: { email },
          throwOnError: true,
        })
      ).data,
    changes: [['ssf_streams', stream.id], ['deliveries']],
    showsFailure: true,
  })
  const { reset } = test
  useEffect(() => {
    if (!isOpen) return
    reset()
    setEmail(address)
  }, [isOpen, address, reset])
  const outcome = test.data
  return (
    <Modal opened={isOpen} onClose={onClose} title={texts.testTitle(stream.name)} size={480}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          test.mutate()
        }}
      >
        <Stack>
          <TextInput
            type="email"
            label={texts.testEmail}
            description={stream.delivery_type === 'push' ? texts.testPush : texts.testPoll}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            required
            data-autofocus
          />
          <Fault error={test.error} />
          {outcome !== undefined && 'success' in outcome ? (
            <TestOutcome outcome={outcome as StreamTest} isPoll={stream.delivery_type === 'poll'} />
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.close}
            </Button>
            <Button type="submit" loading={test.isPending}>
              {texts.sendTest}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
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
