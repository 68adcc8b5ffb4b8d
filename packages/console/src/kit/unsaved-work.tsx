/* Work that is not saved yet: nobody leaves it without being asked, by a link, the Back button or the end of a session. */
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { ConfirmDialog } from './confirm.tsx'
import { texts } from './texts.ts'

/** The forms of the page that hold such work. */
let holders: ReadonlySet<symbol> = new Set()
const listeners = new Set<() => void>()

function change(next: ReadonlySet<symbol>): void {
  holders = next
  for (const tell of listeners) tell()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const isHeld = () => holders.size > 0

/** Whether the page holds work that is not saved yet. */
export function useHasUnsavedWork(): boolean {
  return useSyncExternalStore(listen, isHeld)
}

/** The page may be left now, whatever it holds. */
export function giveUpUnsavedWork(): void {
  change(new Set())
}

interface UnsavedWorkProps {
  /** Something was entered that would be lost with the page. */
  readonly isUnsaved: boolean
}

/** Stands in a form that fills a page, and asks before the page is left. Another tab of the page is another page. */
export function UnsavedWork({ isUnsaved }: UnsavedWorkProps) {
  const [holder] = useState(() => Symbol('form'))
  useEffect(() => {
    if (!isUnsaved) return undefined
    change(new Set([...holders, holder]))
    return () => change(new Set([...holders].filter((other) => other !== holder)))
  }, [isUnsaved, holder])
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && nameOf(current) !== nameOf(next),
    enableBeforeUnload: () => holders.has(holder),
    withResolver: true,
  })
  return (
    <LeaveDialog
      isOpen={status === 'blocked'}
      onLeave={() => proceed?.()}
      onStay={() => reset?.()}
    />
  )
}

interface LeaveDialogProps {
  readonly isOpen: boolean
  readonly onLeave: () => void
  readonly onStay: () => void
}

/** Asks whether what was entered may be lost. */
export function LeaveDialog({ isOpen, onLeave, onStay }: LeaveDialogProps) {
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
      {texts.leaveHelp}
    </ConfirmDialog>
  )
}

interface Place {
  readonly pathname: string
  readonly search: object
}

function nameOf({ pathname, search }: Place): string {
  const tab: unknown = 'tab' in search ? search.tab : undefined
  return JSON.stringify([pathname, tab])
}
