/* Asks the admin to prove themselves again, for a request that the service would not carry out without. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { PasskeyFillIcon } from '@primer/octicons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Fault } from '../kit/confirm.tsx'
import { sessionQuery } from '../shell/session.ts'
import { NoPasskeyError, stepUp } from './session-calls.ts'
import { explain } from './sign-in-page.tsx'
import { texts } from './texts.ts'

interface StepUpDialogProps {
  readonly isOpen: boolean
  /** Told whether the admin has proven themselves. */
  readonly onEnd: (isProven: boolean) => void
}

export function StepUpDialog({ isOpen, onEnd }: StepUpDialogProps) {
  const queryClient = useQueryClient()
  const prove = useMutation({
    mutationFn: stepUp,
    onSuccess: (session) => {
      queryClient.setQueryData(sessionQuery.queryKey, session)
      onEnd(true)
    },
  })
  const close = () => {
    prove.reset()
    onEnd(false)
  }
  const error = prove.error instanceof NoPasskeyError ? null : explain(prove.error)
  return (
    <Modal opened={isOpen} onClose={close} title={texts.stepUpTitle} size={440} zIndex={400}>
      <Stack>
        <Text size="sm">
          {prove.error instanceof NoPasskeyError ? texts.stepUpNoPasskey : texts.stepUpLead}
        </Text>
        <Fault error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {texts.cancel}
          </Button>
          <Button
            leftSection={<PasskeyFillIcon />}
            loading={prove.isPending}
            onClick={() => prove.mutate()}
            data-autofocus
          >
            {texts.stepUp}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
