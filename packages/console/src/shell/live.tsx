/*
 * Keeps the page true without asking again and again: the service says which resources have changed, and
 * what is shown of them is read anew. A browser has one connection, however many windows show the console: the
 * window that holds a lock listens and tells the others, and when it closes another one takes its place.
 */
import { Tooltip } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { LiveChanges } from './live-changes.ts'
import classes from './live.module.css'
import { mayListen, sessionQuery } from './session.ts'
import { texts } from './texts.ts'

type LiveState = 'connecting' | 'open' | 'broken'

/** What the window that listens tells the others. */
type LiveMessage =
  | { readonly type: 'state'; readonly state: LiveState }
  | { readonly type: 'changed'; readonly topics: readonly string[] }
  /** Something listens again; what has changed meanwhile was told to nobody. */
  | { readonly type: 'begun' }
  | { readonly type: 'ended' }
  /** Asks for the state: a window has just opened. */
  | { readonly type: 'hello' }

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
const NAME = 'heliograph live'

/**
 * Listens to the service until it is aborted; `tell` gets what the other windows should know as well. Why it is refused
 * no browser says: because the session has ended, or because the service restarts.
 */
function listen(
  tell: (message: LiveMessage) => void,
  onRefused: () => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let source = connect()
    // A browser does not try again by itself where the service refused it, as one that stops does.
    const timer = setInterval(() => {
      if (source.readyState === EventSource.CLOSED) source = connect()
    }, RETRY_MS)
    signal.addEventListener('abort', () => {
      clearInterval(timer)
      source.close()
      resolve()
    })
  })

  function connect(): EventSource {
    const source = new EventSource('/live')
    let isResumed = false
    // A connection that the browser itself makes again says where it stopped, and is told what it missed.
    source.addEventListener('ready', () => {
      if (!isResumed) tell({ type: 'begun' })
      isResumed = true
    })
    source.addEventListener('open', () => tell({ type: 'state', state: 'open' }))
    source.addEventListener('error', () => {
      tell({ type: 'state', state: 'broken' })
      if (source.readyState === EventSource.CLOSED) onRefused()
    })
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      const { topics } = JSON.parse(data) as { readonly topics: readonly string[] }
      tell({ type: 'changed', topics })
    })
    // The session may have ended, or have another token now.
    source.addEventListener('ended', () => tell({ type: 'ended' }))
    return source
  }
}

/** Listens for changes while a session is open that may hear of them. */
export function useLive(isOpen: boolean): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (!isOpen) return
    const changes = new LiveChanges(queryClient)
    const end = new AbortController()
    const others = new BroadcastChannel(NAME)
    const hear = (message: LiveMessage) => {
      if (message.type === 'state') setState(message.state)
      else if (message.type === 'begun') changes.catchUp()
      else if (message.type === 'ended')
        void queryClient.invalidateQueries({ queryKey: ['session'] })
      else if (message.type === 'changed') {
        changes.hear(message.topics)
        told += 1
        setState('open')
      }
    }
    let isListening = false
    others.addEventListener('message', ({ data }: MessageEvent<LiveMessage>) => {
      if (data.type !== 'hello') hear(data)
      else if (isListening) others.postMessage({ type: 'state', state } satisfies LiveMessage)
    })
    others.postMessage({ type: 'hello' } satisfies LiveMessage)
    const tell = (message: LiveMessage) => {
      hear(message)
      others.postMessage(message)
    }
    // As when somebody signs out in the window that listened: no other one was told of it.
    const look = async () => {
      const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
      if (!mayListen(session) && !end.signal.aborted) tell({ type: 'ended' })
    }
    void navigator.locks
      .request(NAME, { signal: end.signal }, () => {
        isListening = true
        return listen(tell, () => void look().catch(() => undefined), end.signal)
      })
      // Another window listened to the end.
      .catch(() => undefined)
    return () => {
      end.abort()
      others.close()
      changes.end()
      setState('connecting')
    }
  }, [isOpen, queryClient])
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
