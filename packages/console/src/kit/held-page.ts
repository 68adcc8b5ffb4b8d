/*
 * Pages that hold what would be lost with them: they stay when the session opens nothing any more, until it does again.
 */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'

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

/** Whether the page holds work that is not saved yet. */
export function hasUnsavedWork(): boolean {
  return holders.size > 0
}

/** Whether the page holds work that is not saved yet, as it changes. */
export function useHasUnsavedWork(): boolean {
  return useSyncExternalStore(listen, hasUnsavedWork)
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
