/*
 * Work of a form that fills a page and is not saved yet: nobody leaves it by a link or the Back button without being
 * asked.
 */
import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from './confirm.tsx'
import { useHeldPage } from './held-page.ts'
import { texts } from './texts.ts'

interface UnsavedWorkProps {
  /** Something was entered that would be lost with the page. */
  readonly isUnsaved: boolean
  /** It is being saved, or is saved and the page about to be left: a way on asks nothing. */
  readonly isPending: boolean
  /** What would be lost; what was entered when left out. */
  readonly help?: string
}

/** Stands in a form that fills a page, and asks before the page is left. */
export function UnsavedWork({ isUnsaved, isPending, help }: UnsavedWorkProps) {
  const { isHeld } = useHeldPage(isUnsaved)
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isHeld() && !isPending && nameOf(current) !== nameOf(next),
    enableBeforeUnload: isHeld,
    withResolver: true,
  })
  return (
    <LeaveDialog
      isOpen={status === 'blocked'}
      help={help}
      onLeave={() => proceed?.()}
      onStay={() => reset?.()}
    />
  )
}

interface LeaveDialogProps {
  readonly isOpen: boolean
  readonly help?: string | undefined
  readonly onLeave: () => void
  readonly onStay: () => void
}

/** Asks whether what the page holds may be lost. */
export function LeaveDialog({ isOpen, help, onLeave, onStay }: LeaveDialogProps) {
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={texts.leaveTitle}
      label={texts.leave}
      closeLabel={texts.stay}
      isDanger
      isPending={false}
      onConfirm={onLeave}
      onClose={onStay}
    >
      {help ?? texts.leaveHelp}
    </ConfirmDialog>
  )
}

interface Place {
  readonly pathname: string
  readonly search: object
}

/** Another tab or step of a page is another place. */
function nameOf({ pathname, search }: Place): string {
  return JSON.stringify([pathname, search])
}
