/* Who is signed in. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError, client } from '../api/client.ts'

export interface Session {
  readonly admin: { readonly id: string; readonly name: string; readonly email: string }
  readonly access_level: 'full' | 'limited' | 'billing'
  readonly permissions: readonly string[]
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
})

/** The open session; undefined while it is looked up, null when there is none. */
export function useSession(): Session | null | undefined {
  return useQuery(sessionQuery).data
}

/** Whether the signed-in admin may do what needs this permission. */
export function useMay(permission: string): boolean {
  return useSession()?.permissions.includes(permission) === true
}
