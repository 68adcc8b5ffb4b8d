import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { texts } from './texts.ts'

interface EndedSessionDialogProps {
  /** Where people sign in. */
  readonly signInPath: string
  /** Looks whether there is a session again. */
  readonly onLook: () => void
  readonly onLeave: () => void
}

/** Keeps a page with work that is not saved, and covers it, while its admin signs in again elsewhere. */
export function EndedSessionDialog({ signInPath, onLook, onLeave }: EndedSessionDialogProps) {
  useEffect(() => {
    window.addEventListener('focus', onLook)
    document.addEventListener('visibilitychange', onLook)
    return () => {
      window.removeEventListener('focus', onLook)
      document.removeEventListener('visibilitychange', onLook)
    }
  }, [onLook])
  return (
    <Modal
      opened
      onClose={onLook}
      title={texts.endedTitle}
      size={480}
      zIndex={400}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      // Whoever looks at the screen now sees nothing of it.
      overlayProps={{ color: 'var(--mantine-color-body)', backgroundOpacity: 1, blur: 0 }}
    >
      <Stack>
        <Text size="sm">{texts.endedHelp}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onLeave}>
            {texts.leaveUnsaved}
          </Button>
          <Button component="a" href={signInPath} target="_blank" data-autofocus>
            {texts.signInThere}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
