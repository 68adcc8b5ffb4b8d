/* Lets nobody see pages without a session, and keeps the console in step with the session's end. */
import { Center, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react'
import { listenToSession } from '../api/client.ts'
import { ErrorState } from '../kit/states.tsx'
import { useLive } from './live.tsx'
import { sessionQuery } from './session.ts'

const SIGN_IN_PATH = '/console/sign-in'

/** Rare, and brings the ceremonies of passkeys along. */
const StepUpDialog = lazy(async () => ({
  default: (await import('../sign-in/step-up-dialog.tsx')).StepUpDialog,
}))

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
      }),
    [queryClient],
  )
  useLive(session?.setup_required === false && session.areas.includes('Live'))
  const isSigningIn = globalThis.location.pathname.startsWith(SIGN_IN_PATH)
  const mustSignIn = (session === null || session?.setup_required === true) && !isSigningIn
  useEffect(() => {
    if (!mustSignIn) return
    const { pathname, search } = globalThis.location
    globalThis.location.assign(`${SIGN_IN_PATH}?next=${encodeURIComponent(pathname + search)}`)
  }, [mustSignIn])
  if (isSigningIn) return children
  if (error !== null && session === undefined)
    return <ErrorState error={error} onRetry={() => void refetch()} />
  if (isPending || mustSignIn) {
    return (
      <Center h="100dvh">
        <Loader aria-label="Loading" />
      </Center>
    )
  }
  return (
    <>
      {children}
      <Suspense>
        {isSteppingUp ? (
          <StepUpDialog
            isOpen
            onEnd={(isProven) => {
              setSteppingUp(false)
              for (const resolve of waiting.current.splice(0)) resolve(isProven)
            }}
          />
        ) : null}
      </Suspense>
    </>
  )
}
