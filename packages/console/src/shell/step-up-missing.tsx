import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { texts } from '../kit/texts.ts'

interface StepUpMissingProps {
  readonly onEnd: (isProven: boolean) => void
}

/** In place of the dialog of a step-up that could not be loaded: the page behind it stays, with what was typed. */
export function StepUpMissing({ onEnd }: StepUpMissingProps) {
  return (
    <Modal opened onClose={() => onEnd(false)} title={texts.partMissing} size={440} zIndex={400}>
      <Stack>
        <Text size="sm">{texts.partMissingHelp}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onEnd(false)}>
            {texts.cancel}
          </Button>
          <Button onClick={() => globalThis.location.reload()}>{texts.loadAnew}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
