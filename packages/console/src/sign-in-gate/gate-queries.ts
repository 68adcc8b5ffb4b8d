/* What is read of signing in here. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import {
  getSignInApplicationsById,
  getSignInPolicy,
  getSignInUpstreamProviders,
  getSignInUpstreamProvidersById,
} from '../api/generated/sdk.gen.ts'

/** What shows anything of it. */
export const READ_PERMISSION = 'Read Sign-in'

/** What changes anything of it. */
export const MANAGE_PERMISSION = 'Manage Sign-in'

/** Where every page of it hangs. */
export const APPLICATIONS_PATH = '/settings/sign-in'

/** There are never more of them than the API keeps. */
const UPSTREAMS_MAX = 100

export const applicationQuery = (id: string) =>
  queryOptions({
    queryKey: ['sign_in_applications', id],
    queryFn: async ({ signal }) =>
      (await getSignInApplicationsById({ path: { id }, signal, throwOnError: true })).data,
  })

export const upstreamQuery = (id: string) =>
  queryOptions({
    queryKey: ['sign_in_upstream_providers', id],
    queryFn: async ({ signal }) =>
      (await getSignInUpstreamProvidersById({ path: { id }, signal, throwOnError: true })).data,
  })

export const policyQuery = queryOptions({
  queryKey: ['sign_in_policy'],
  queryFn: async ({ signal }) => (await getSignInPolicy({ signal, throwOnError: true })).data,
})

/** Every upstream provider, as choices. */
export function useUpstreamChoices() {
  const { data = [] } = useQuery({
    queryKey: ['sign_in_upstream_providers', 'choices'],
    queryFn: async ({ signal }) =>
      (
        await getSignInUpstreamProviders({
          query: { per_page: UPSTREAMS_MAX },
          signal,
          throwOnError: true,
        })
      ).data.data,
  })
  return data.map(({ id, name }) => ({ value: id, label: name }))
}
