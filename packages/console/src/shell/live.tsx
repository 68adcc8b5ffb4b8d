/*
 * Keeps the page true without asking again and again: the service says which resources have changed, and
 * what is shown of them is read anew. One connection for the whole console; the browser resumes it.
 */
import { Tooltip } from '@mantine/core'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { LiveChanges } from './live-changes.ts'
import classes from './live.module.css'
import { texts } from './texts.ts'

type LiveState = 'connecting' | 'open' | 'broken'

let state: LiveState = 'connecting'
/** How many messages have come: the mark glints once for each. */
let told = 0
const listeners = new Set<() => void>()

function setState(next: LiveState): void {
  state = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const RETRY_MS = 10_000

function connect(queryClient: QueryClient, changes: LiveChanges): EventSource {
  const source = new EventSource('/live')
  source.addEventListener('open', () => setState('open'))
  source.addEventListener('error', () => setState('broken'))
  source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
    const { topics } = JSON.parse(data) as { readonly topics: readonly string[] }
    changes.hear(topics)
    told += 1
    setState('open')
  })
  // The session may have ended, or have another token now.
  source.addEventListener('ended', () => {
    void queryClient.invalidateQueries({ queryKey: ['session'] })
  })
  return source
}

/** Listens for changes while a session is open. */
export function useLive(isSignedIn: boolean): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (!isSignedIn) return
    const changes = new LiveChanges(queryClient)
    let source = connect(queryClient, changes)
    // A browser does not try again by itself where the service refused it, as one that stops does.
    const timer = setInterval(() => {
      if (source.readyState === EventSource.CLOSED) source = connect(queryClient, changes)
    }, RETRY_MS)
    return () => {
      clearInterval(timer)
      source.close()
      changes.end()
      setState('connecting')
    }
  }, [isSignedIn, queryClient])
}

/** Whether the page moves by itself. */
export function LiveMark() {
  const current = useSyncExternalStore(subscribe, () => state)
  const messages = useSyncExternalStore(subscribe, () => told)
  const label = { open: texts.live, broken: texts.liveBroken, connecting: texts.livePaused }[
    current
  ]
  return (
    <Tooltip label={label}>
      <span
        key={messages}
        className={classes.mark}
        data-state={current}
        data-told={messages > 0 ? '' : undefined}
        role="img"
        aria-label={label}
      />
    </Tooltip>
  )
}
