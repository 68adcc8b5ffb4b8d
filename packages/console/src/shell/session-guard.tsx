/* Lets nobody see pages without a session, and keeps the console in step with the session's end. */
import { Center, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, type ReactNode } from 'react'
import { listenToSession } from '../api/client.ts'
import { ErrorState } from '../kit/states.tsx'
import { useLive } from './live.tsx'
import { sessionQuery } from './session.ts'

const SIGN_IN_PATH = '/console/sign-in'

export function SessionGuard({ children }: { readonly children: ReactNode }) {
  const queryClient = useQueryClient()
  const { data: session, error, isPending, refetch } = useQuery(sessionQuery)
  useEffect(
    () =>
      listenToSession({
        stepUp: async () => false,
        ended: () => queryClient.setQueryData(sessionQuery.queryKey, null),
      }),
    [queryClient],
  )
  useLive(session !== null && session !== undefined)
  const isSigningIn = globalThis.location.pathname.startsWith(SIGN_IN_PATH)
  const mustSignIn = session === null && !isSigningIn
  useEffect(() => {
    if (!mustSignIn) return
    const { pathname, search } = globalThis.location
    globalThis.location.assign(`${SIGN_IN_PATH}?next=${encodeURIComponent(pathname + search)}`)
  }, [mustSignIn])
  if (isSigningIn) return children
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (isPending || mustSignIn) {
    return (
      <Center h="100dvh">
        <Loader aria-label="Loading" />
      </Center>
    )
  }
  return children
}
