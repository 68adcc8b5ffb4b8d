/* The guides of the wizard, in the order in which they are offered. */
import type { SignInApplication } from '../../api/generated/types.gen.ts'
import { authentik, cloudflare, google, keycloak, oidc } from './brokers.ts'
import { entra } from './entra.ts'
import type { Guide } from './guide.ts'
import { okta } from './okta.ts'
import { anyProxy, caddy, envoy, nginx, traefik } from './proxies.ts'

export const GUIDES: readonly Guide[] = [
  ...[okta, entra, google, keycloak, authentik, cloudflare, oidc],
  ...[nginx, caddy, traefik, envoy],
]

/** What tells by its redirect URI where an application is. */
const MARKS: readonly (readonly [RegExp, Guide])[] = [
  [/\/oauth2\/v1\/authorize\/callback$/, okta],
  [/^https:\/\/[^/]*google\.com\//, google],
  [/\/realms\/[^/]+\/broker\/[^/]+\/endpoint$/, keycloak],
  [/\/source\/oauth\/callback\/[^/]+\/$/, authentik],
  [/\/cdn-cgi\/access\/callback$/, cloudflare],
]

/** The guide that an application was, or would be, set up with. */
export function guideOf({
  kind,
  redirect_uris: uris,
}: Pick<SignInApplication, 'kind' | 'redirect_uris'>): Guide | undefined {
  if (kind === 'entra') return entra
  if (kind === 'forward_auth') return anyProxy
  return MARKS.find(([mark]) => uris.some((uri) => mark.test(uri)))?.[1] ?? oidc
}
