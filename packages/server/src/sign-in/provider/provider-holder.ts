/*
 * The provider of a process, made anew when its keys are others: a library that is given its keys once must not sign by
 * a key that has gone.
 */
import type Provider from 'oidc-provider'
import { createSignInProvider, type ProviderDependencies } from './sign-in-provider.ts'
import type { RefusalRecorder } from '../applications/requests/refusal-recorder.ts'
import type { SignInKeys } from './sign-in-keys.ts'
import { watchRefusals } from './watch-refusals.ts'

/** Gives the provider with the present keys. */
export type OpenProvider = () => Promise<Provider>

export function createProviderHolder(
  dependencies: ProviderDependencies & {
    readonly onFault: (error: unknown) => void
    readonly refusals: Pick<RefusalRecorder, 'note'>
  },
  keys: SignInKeys,
): OpenProvider {
  let made: { readonly kids: string; readonly provider: Provider } | undefined
  return async () => {
    const current = await keys.current()
    const kids = current.map(({ kid }) => kid).join(' ')
    if (made?.kids !== kids) {
      const provider = createSignInProvider(dependencies, current)
      provider.on('server_error', (_context, error) => dependencies.onFault(error))
      watchRefusals(provider, dependencies.refusals)
      made = { kids, provider }
    }
    return made.provider
  }
}
