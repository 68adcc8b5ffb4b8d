import { Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { MissingActions, useMissingPart, type MissingProps } from '../kit/missing-part.tsx'
import { texts } from '../kit/texts.ts'

interface StepUpMissingProps extends MissingProps {
  readonly onEnd: (isProven: boolean) => void
}

/** In place of the dialog of a step-up that could not be loaded: the page behind it stays, with what was typed. */
export function StepUpMissing({ onRetry, onEnd }: StepUpMissingProps) {
  const found = useMissingPart(onRetry, false)
  const { reason } = found
  const told = reason === undefined ? undefined : texts.missing[reason]
  return (
    <Modal
      opened
      onClose={() => onEnd(false)}
      title={told?.title ?? texts.loading}
      size={440}
      zIndex={400}
    >
      <Stack>
        {told === undefined ? <Loader role="status" aria-label={texts.loading} /> : null}
        <Text size="sm">{told?.help}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onEnd(false)}>
            {texts.cancel}
          </Button>
          {told === undefined ? null : <MissingActions {...found} />}
        </Group>
      </Stack>
    </Modal>
  )
}
