/*
 * Work that is not saved yet: nobody leaves it without being asked, by a link, the Back button or the end of a session.
 */
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { ConfirmDialog } from './confirm.tsx'
import { texts } from './texts.ts'

/** What of the page holds such work. */
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

const hasHolders = () => holders.size > 0

/** Whether the page holds work that is not saved yet. */
export function useHasUnsavedWork(): boolean {
  return useSyncExternalStore(listen, hasHolders)
}

/** The page may be left now, whatever it holds. */
export function giveUpUnsavedWork(): void {
  change(new Set())
}

interface HeldPage {
  /** Whether what is held would still be lost with the page. */
  readonly isHeld: () => boolean
  /** Lets the page go at once: what was held is stored elsewhere. */
  readonly release: () => void
}

/** Holds the page while it shows what would be lost with it. */
export function useHeldPage(isShown: boolean): HeldPage {
  const [holder] = useState(() => Symbol('holder'))
  const release = useCallback(
    () => change(new Set([...holders].filter((other) => other !== holder))),
    [holder],
  )
  useEffect(() => {
    if (!isShown) return undefined
    change(new Set([...holders, holder]))
    return release
  }, [isShown, holder, release])
  return { isHeld: () => holders.has(holder), release }
}

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
