import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { loadAnew, useMissingPart, type MissingProps } from '../kit/missing-part.tsx'
import { texts } from '../kit/texts.ts'

interface StepUpMissingProps extends MissingProps {
  readonly onEnd: (isProven: boolean) => void
}

/** In place of the dialog of a step-up that could not be loaded: the page behind it stays, with what was typed. */
export function StepUpMissing({ onRetry, onEnd }: StepUpMissingProps) {
  const { reason, isTrying, tryAgain } = useMissingPart(onRetry, false)
  if (reason === undefined) return null
  const { title, help } = texts.missing[reason]
  return (
    <Modal opened onClose={() => onEnd(false)} title={title} size={440} zIndex={400}>
      <Stack>
        <Text size="sm">{help}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onEnd(false)}>
            {texts.cancel}
          </Button>
          {reason === 'unreachable' ? (
            <Button loading={isTrying} onClick={tryAgain} data-autofocus>
              {texts.retry}
            </Button>
          ) : (
            <Button onClick={loadAnew}>{texts.loadAnew}</Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
