import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { texts } from './texts.ts'

/** Above every dialog and notice. */
const Z_INDEX = 500

const PORTAL_ID = 'kept-page'

interface KeptPageDialogProps {
  /** What the page waits for. */
  readonly lacks: keyof typeof texts.kept
  /** Where it is had again. */
  readonly path: string
  /** Looks whether it is there again. */
  readonly onLook: () => void
  readonly onLeave: () => void
}

/** Keeps a page with work that is not saved, and covers it, while its admin gets elsewhere what it lacks. */
export function KeptPageDialog({ lacks, path, onLook, onLeave }: KeptPageDialogProps) {
  const words = texts.kept[lacks]
  useInertPage()
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
      title={words.title}
      size={480}
      zIndex={Z_INDEX}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      // Whoever looks at the screen now sees nothing of it.
      portalProps={{ id: PORTAL_ID, reuseTargetNode: false }}
      overlayProps={{ color: 'var(--mantine-color-body)', backgroundOpacity: 1 }}
    >
      <Stack>
        <Text size="sm">{words.help}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onLeave}>
            {texts.leaveUnsaved}
          </Button>
          <Button component="a" href={path} target="_blank" data-autofocus>
            {words.link}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/**
 * What is covered is out of reach of the keyboard and of readers of screens as well: the page, its dialogs, and what is
 * added to either meanwhile.
 */
function useInertPage(): void {
  useEffect(() => {
    const covered = new Set<HTMLElement>()
    const cover = () => {
      for (const each of document.body.children) {
        if (!(each instanceof HTMLElement) || each.id === PORTAL_ID || each.inert) continue
        each.inert = true
        covered.add(each)
      }
    }
    cover()
    const observer = new MutationObserver(cover)
    observer.observe(document.body, { childList: true })
    return () => {
      observer.disconnect()
      for (const each of covered) each.inert = false
    }
  }, [])
}
