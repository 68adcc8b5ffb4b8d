/* Lets nobody see pages without a session, and keeps the console in step with the session's end. */
import { Center, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import { listenToSession } from '../api/client.ts'
import { lazyPart } from '../kit/lazy-part.tsx'
import { ErrorState } from '../kit/states.tsx'
import { giveUpUnsavedWork, useHasUnsavedWork } from '../kit/held-page.ts'
import { KeptPageDialog } from './kept-page-dialog.tsx'
import { useLive } from './live.tsx'
import { DEVICE_PATH } from '../trusted-device/device-calls.ts'
import { StepUpMissing } from './step-up-missing.tsx'
import { isDeviceMissing, KeptSession, mayListen, sessionQuery, type Session } from './session.ts'
import { isSignInPath, SIGN_IN_PATH } from './sign-in-path.ts'

/** Rare, and brings the ceremonies of passkeys along. */
const StepUpDialog = lazyPart(
  () => import('../sign-in/step-up-dialog.tsx'),
  'StepUpDialog',
  StepUpMissing,
)

export function SessionGuard({ children }: { readonly children: ReactNode }) {
  const queryClient = useQueryClient()
  const { data: session, error, isPending, refetch } = useQuery(sessionQuery)
  const [isSteppingUp, setSteppingUp] = useState(false)
  /** Requests that wait for the admin to prove themselves; all go on together. */
  const waiting = useRef<((isProven: boolean) => void)[]>([])
  useEffect(
    () =>
      listenToSession({
        stepUp: () =>
          new Promise((resolve) => {
            waiting.current.push(resolve)
            setSteppingUp(true)
          }),
        ended: () => queryClient.setQueryData(sessionQuery.queryKey, null),
        deviceRefused: () =>
          void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey, exact: true }),
      }),
    [queryClient],
  )
  const endStepUp = (isProven: boolean) => {
    setSteppingUp(false)
    for (const resolve of waiting.current.splice(0)) resolve(isProven)
  }
  useLive(mayListen(session))
  const { kept, isOfOther } = useKeptSession(session)
  useEscapeOnTop(kept === undefined ? (isSteppingUp ? () => endStepUp(false) : undefined) : ignore)
  const goesTo = useDestination(session, kept !== undefined)
  const look = useCallback(() => void refetch(), [refetch])
  if (isSigningIn() && goesTo === undefined) return children
  if (error !== null && session === undefined)
    return <ErrorState error={error} onRetry={() => void refetch()} isPage />
  if (isPending || isOfOther || goesTo !== undefined) {
    return (
      <Center h="100dvh">
        <Loader aria-label="Loading" />
      </Center>
    )
  }
  return (
    <>
      <KeptSession value={kept}>{children}</KeptSession>
      {kept === undefined ? null : (
        <KeptPageDialog
          lacks={session === null ? 'session' : 'device'}
          path={session === null ? SIGN_IN_PATH : DEVICE_PATH}
          onLook={look}
          onLeave={giveUpUnsavedWork}
        />
      )}
      <Suspense>{isSteppingUp ? <StepUpDialog isOpen onEnd={endStepUp} /> : null}</Suspense>
    </>
  )
}

const ignore = () => undefined

/** What Escape does while a dialog of the session lies over the page: those of the page would hear of it and close. */
function useEscapeOnTop(onEscape: (() => void) | undefined): void {
  const current = useRef(onEscape)
  useEffect(() => {
    current.current = onEscape
  })
  useEffect(() => {
    // Begins to listen before any dialog of a page does, and hears of it first.
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || current.current === undefined) return
      event.stopImmediatePropagation()
      current.current()
    }
    window.addEventListener('keydown', listen, { capture: true })
    return () => window.removeEventListener('keydown', listen, { capture: true })
  }, [])
}

const isSigningIn = () => isSignInPath(globalThis.location.pathname)

interface KeptPage {
  readonly kept: Session | undefined
  /** Another admin has signed in: the page shows nothing more and is loaded anew. */
  readonly isOfOther: boolean
}

/**
 * The session that has ended or lost its device, where the page stays all the same: it holds work that is not saved,
 * for the same admin to sign in or prove the device again. What it shows belongs to nobody else.
 */
function useKeptSession(session: Session | null | undefined): KeptPage {
  const hasUnsavedWork = useHasUnsavedWork()
  const [last, setLast] = useState<Session>()
  const owner = useRef<string>(undefined)
  const isOpen = session !== null && session !== undefined && !isDeviceMissing(session)
  const adminId = session?.admin.id
  const isOfOther = last !== undefined && adminId !== undefined && adminId !== last.admin.id
  if (isOpen && !isOfOther && session !== last) setLast(session)
  useEffect(() => {
    if (adminId === undefined) return
    if (owner.current !== undefined && owner.current !== adminId) {
      giveUpUnsavedWork()
      globalThis.location.reload()
    }
    owner.current = adminId
  }, [adminId])
  const isKept = session !== undefined && !isOpen && !isOfOther && hasUnsavedWork
  return { kept: isKept ? last : undefined, isOfOther }
}

/** Where the window goes because the session opens nothing here; it goes there, unless the page is kept. */
function useDestination(session: Session | null | undefined, isKept: boolean): string | undefined {
  const goesTo = isKept ? undefined : toDestination(session)
  useEffect(() => {
    if (goesTo === undefined) return
    const { pathname, search } = globalThis.location
    globalThis.location.assign(`${goesTo}?next=${encodeURIComponent(pathname + search)}`)
  }, [goesTo])
  return goesTo
}

/** First the device, then a way to sign in. Whoever signs in anew needs to prove nothing for that. */
function toDestination(session: Session | null | undefined): string | undefined {
  if (session === undefined) return undefined
  if (session === null) return isSigningIn() ? undefined : SIGN_IN_PATH
  const { setup_required: isSetUpPending } = session
  if (isDeviceMissing(session)) {
    const isThere =
      globalThis.location.pathname === DEVICE_PATH || (isSigningIn() && !isSetUpPending)
    return isThere ? undefined : DEVICE_PATH
  }
  return isSetUpPending && !isSigningIn() ? SIGN_IN_PATH : undefined
}
