/* The calls by which the browser goes to the identity provider of the organisation, and comes back from it. */
import { queryOptions } from '@tanstack/react-query'
import {
  getConsoleSessionIdentities,
  getConsoleSessionProvider,
  postConsoleSessionProvider,
  postConsoleSessionProviderStart,
  postConsoleSessionProviderStepUp,
} from '../api/generated/sdk.gen.ts'
import { texts } from './texts.ts'

const NEXT = 'heliograph sign-in next'
const CONSOLE_PATH = /^\/console\/(?![/\\])/

/** What the provider calls itself here; null when none is set up. */
export const providerQuery = queryOptions({
  queryKey: ['session', 'provider'],
  queryFn: async ({ signal }) =>
    (await getConsoleSessionProvider({ signal, throwOnError: true })).data.name,
})

/** Whether the admin who is signed in can prove itself at the provider. */
export const isConnectedQuery = queryOptions({
  queryKey: ['session', 'identities'],
  queryFn: async ({ signal }) => {
    const { data } = await getConsoleSessionIdentities({ signal, throwOnError: true })
    return data.data.some(({ is_in_use: isInUse }) => isInUse)
  },
})

/** Leaves for the provider, and goes on at `next` after the return. */
export async function goToProvider(
  purpose: 'sign_in' | 'step_up',
  next: string | undefined,
): Promise<void> {
  const options = { body: {}, throwOnError: true } as const
  const begin =
    purpose === 'sign_in' ? postConsoleSessionProviderStart : postConsoleSessionProviderStepUp
  const { data } = await begin(options)
  globalThis.sessionStorage.setItem(NEXT, next ?? '/console/')
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

/** Where the console goes on after the return; nowhere but in the console. */
export function takeNext(): string {
  const next = globalThis.sessionStorage.getItem(NEXT) ?? ''
  globalThis.sessionStorage.removeItem(NEXT)
  return CONSOLE_PATH.test(next) ? next : '/console/'
}
