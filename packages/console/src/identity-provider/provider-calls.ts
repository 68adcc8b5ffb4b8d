/* The calls about the identity provider of the organisation, and the values of its form. */
import { queryOptions } from '@tanstack/react-query'
import {
  deleteConsoleIdentityProvider,
  getConsoleIdentityProvider,
  patchConsoleIdentityProvider,
  postConsoleIdentityProviderCheck,
} from '../api/generated/sdk.gen.ts'
import type {
  AdminIdentityProvider,
  AdminIdentityProviderCheck,
  ChangeAdminIdentityProvider,
  CheckAdminIdentityProvider,
} from '../api/generated/types.gen.ts'

export type Provider = NonNullable<AdminIdentityProvider['provider']>

export const setupQuery = queryOptions({
  queryKey: ['organisation', 'identity_provider'],
  queryFn: async ({ signal }) =>
    (await getConsoleIdentityProvider({ signal, throwOnError: true })).data,
})

/** What is read again after a change: the page, and what the own account and the sign-in say of the provider. */
export const CHANGED = [
  setupQuery.queryKey,
  ['session', 'provider'],
  ['session', 'identities'],
] as const

export async function changeProvider(
  body: ChangeAdminIdentityProvider,
): Promise<AdminIdentityProvider> {
  return (await patchConsoleIdentityProvider({ body, throwOnError: true })).data
}

export async function removeProvider(): Promise<void> {
  await deleteConsoleIdentityProvider({ throwOnError: true })
}

export async function checkProvider(
  body: CheckAdminIdentityProvider,
): Promise<AdminIdentityProviderCheck> {
  return (await postConsoleIdentityProviderCheck({ body, throwOnError: true })).data
}

/** By the names of the API, so that its faults find their inputs. Groups are one a line. */
export interface ProviderValues {
  name: string
  issuer: string
  client_id: string
  client_secret: string
  group_claim: string
  full_access_groups: string
  limited_access_groups: string
}

export function toValues(provider: Provider | null): ProviderValues {
  return {
    name: provider?.name ?? '',
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
    client_secret: '',
    group_claim: provider?.group_claim ?? '',
    full_access_groups: (provider?.full_access_groups ?? []).join('\n'),
    limited_access_groups: (provider?.limited_access_groups ?? []).join('\n'),
  }
}

/** What is sent of the form. An empty secret is none. */
export function toInput(values: ProviderValues): ChangeAdminIdentityProvider {
  return {
    ...toClient(values),
    name: values.name.trim(),
    group_claim: values.group_claim.trim() || null,
    full_access_groups: toLines(values.full_access_groups),
    limited_access_groups: toLines(values.limited_access_groups),
  }
}

/** What a check tries. */
export function toClient(values: ProviderValues): CheckAdminIdentityProvider {
  const secret = values.client_secret.trim()
  return {
    issuer: values.issuer.trim(),
    client_id: values.client_id.trim(),
    ...(secret === '' ? {} : { client_secret: secret }),
  }
}

function toLines(text: string): string[] {
  return [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
}
