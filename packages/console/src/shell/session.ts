/* Who is signed in. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createContext, useCallback, useContext } from 'react'
import { ApiError, client } from '../api/client.ts'
import type { ConsoleSession } from '../api/generated/types.gen.ts'

export interface Session {
  readonly id: string
  readonly admin: {
    readonly id: string
    readonly first_name: string
    readonly last_name: string
    readonly email: string
    readonly access: 'full' | 'limited' | 'billing_only'
  }
  /** What the session may see, by the tags of the operations of the API. */
  readonly areas: readonly string[]
  readonly permissions: readonly string[]
  /** How the admin signed in. */
  readonly method: string
  /** Nothing opens before the admin has a way to sign in. */
  readonly setup_required: boolean
  /** The device that the session is bound to. */
  readonly trusted_device: {
    /** Whether nothing opens before it is trusted. */
    readonly required: boolean
    /** What is wrong with it; null where it is trusted. */
    readonly problem: ConsoleSession['trusted_device']['problem']
  }
  readonly stepped_up_until: string | null
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      const { data } = await client.get<{ 200: Session }, unknown, true>({
        url: '/console/session',
        signal,
        throwOnError: true,
      })
      return data
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
  staleTime: 60_000,
  // Another window may have signed in or out.
  refetchOnWindowFocus: 'always',
})

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await client.delete({ url: '/console/session' })
}

/** Whether a session opens nothing before its device is trusted. */
export function isDeviceMissing({ trusted_device: { required, problem } }: Session): boolean {
  return required && problem !== null
}

/** Whether a session may hear of changes. */
export function mayListen(session: Session | null | undefined): boolean {
  if (session === undefined || session === null) return false
  return !session.setup_required && !isDeviceMissing(session) && session.areas.includes('Live')
}

/** The session that a page is kept for as it was in it, while none opens the page. */
export const KeptSession = createContext<Session | undefined>(undefined)

/**
 * The session that the page is kept for, or the present one; undefined while it is looked up, null when there is none.
 */
export function useSession(): Session | null | undefined {
  const kept = useContext(KeptSession)
  const { data } = useQuery(sessionQuery)
  return kept ?? data
}

/** What an admin needs to see something; everybody sees it where both are left out. */
export interface Opening {
  /** One of these is enough. */
  readonly anyOf?: readonly Opening[]
  /** The tag of the API's operations that it shows. */
  readonly area?: string | undefined
  /** Without this permission there is nothing to see. */
  readonly permission?: string
}

/** Says what is open to the signed-in admin; nothing while nobody is known to be. */
export function useIsOpen(): (opening: Opening) => boolean {
  const session = useSession()
  return useCallback((opening) => isOpenTo(session, opening), [session])
}

function isOpenTo(
  session: Pick<Session, 'areas' | 'permissions'> | null | undefined,
  { anyOf, area, permission }: Opening,
): boolean {
  return (
    (area === undefined || session?.areas.includes(area) === true) &&
    (permission === undefined || session?.permissions.includes(permission) === true) &&
    (anyOf === undefined || anyOf.some((each) => isOpenTo(session, each)))
  )
}

/** Whether the signed-in admin may do what needs this permission. */
export function useMay(permission: string): boolean {
  return useSession()?.permissions.includes(permission) === true
}
