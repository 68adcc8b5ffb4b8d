/* The calls by which the browser goes to the identity provider of the organisation, and comes back from it. */
import { queryOptions } from '@tanstack/react-query'
import {
  deleteConsoleSessionIdentitiesById,
  getConsoleSessionIdentities,
  getConsoleSessionProvider,
  postConsoleSessionProvider,
  postConsoleSessionProviderConnect,
  postConsoleSessionProviderStart,
  postConsoleSessionProviderStepUp,
} from '../api/generated/sdk.gen.ts'
import type { AdminIdentity } from '../api/generated/types.gen.ts'
import { toNextPage } from '../shell/next-page.ts'
import { texts } from './texts.ts'

/** What the browser goes to the provider for. */
export type ProviderPurpose = 'sign_in' | 'step_up' | 'connect'

const LEFT_FOR = 'heliograph left for provider'

/** What the provider calls itself here; null when none is set up. */
export const providerQuery = queryOptions({
  queryKey: ['session', 'provider'],
  queryFn: async ({ signal }) =>
    (await getConsoleSessionProvider({ signal, throwOnError: true })).data.name,
})

/** The own accounts at identity providers, also at those that were set up before. */
export const identitiesQuery = queryOptions({
  queryKey: ['session', 'identities'],
  queryFn: async ({ signal }): Promise<readonly AdminIdentity[]> =>
    (await getConsoleSessionIdentities({ signal, throwOnError: true })).data.data,
})

/** Whether the admin can sign in and prove itself at the provider that is set up. */
export function isConnected(identities: readonly AdminIdentity[]): boolean {
  return identities.some(({ is_in_use: isInUse }) => isInUse)
}

export async function disconnect({ id }: AdminIdentity): Promise<void> {
  await deleteConsoleSessionIdentitiesById({ path: { id }, throwOnError: true })
}

const BEGIN = {
  sign_in: postConsoleSessionProviderStart,
  step_up: postConsoleSessionProviderStepUp,
  connect: postConsoleSessionProviderConnect,
} as const

/** Leaves for the provider, and goes on at `next` after the return. */
export async function goToProvider(
  purpose: ProviderPurpose,
  next: string | undefined,
): Promise<void> {
  const { data } = await BEGIN[purpose]({ throwOnError: true })
  const left: Departure = { purpose, next: next ?? '/console/' }
  globalThis.sessionStorage.setItem(LEFT_FOR, JSON.stringify(left))
  globalThis.location.assign(data.url)
}

/** Ends what was begun at the provider, by what it has sent the browser back with; answers the id of the session. */
export async function returnFromProvider(
  answer: Readonly<Record<string, string>>,
): Promise<string> {
  const { state, code, iss, error } = answer
  if (state === undefined) throw new Error(texts.providerNothing)
  const body = {
    state,
    ...(code === undefined ? {} : { code }),
    ...(iss === undefined ? {} : { iss }),
    ...(error === undefined ? {} : { error }),
  }
  return (await postConsoleSessionProvider({ body, throwOnError: true })).data.id
}

/** What this tab has left the console for. */
interface Departure {
  readonly purpose: ProviderPurpose
  /** Where the console goes on after the return; nowhere but in the console. */
  readonly next: string
}

/** What this tab has left for; a sign-in when it does not know. */
export function readDeparture(): Departure {
  const text = globalThis.sessionStorage.getItem(LEFT_FOR)
  const { purpose = 'sign_in', next } = JSON.parse(text ?? '{}') as Partial<Departure>
  return { purpose, next: toNextPage(next) ?? '/console/' }
}

/** Forgets what this tab has left for: a return is one of a kind. */
export function forgetDeparture(): void {
  globalThis.sessionStorage.removeItem(LEFT_FOR)
}
