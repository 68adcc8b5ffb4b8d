import type { KoaContextWithOIDC } from 'oidc-provider'

/** What an application was granted, by what its ID tokens call it. */
export interface SignedOutSession {
  readonly clientId: string
  readonly sid: string
}

/**
 * What ends with an answer of the provider, where it has signed somebody out: by the ID token of the application, which
 * the library has verified, whether this browser still remembers anything or not; without one, once the person has said
 * so, by what the browser remembers of the application, or of all where none was named. OpenID Connect RP-Initiated
 * Logout 1.0, section 2.
 */
export function listSignedOut(context: { readonly status: number }): readonly SignedOutSession[] {
  const { oidc } = context as typeof context & Partial<KoaContextWithOIDC>
  if (oidc === undefined || context.status >= 400) return []
  const clientId = oidc.entities.Client?.clientId
  if (oidc.route === 'end_session') return listHinted(oidc, clientId)
  if (oidc.route !== 'end_session_confirm' || oidc.params?.['logout'] === undefined) return []
  return Object.entries(oidc.session?.authorizations ?? {}).flatMap(([id, { sid }]) =>
    sid !== undefined && (clientId ?? id) === id ? [{ clientId: id, sid }] : [],
  )
}

function listHinted(
  { entities }: KoaContextWithOIDC['oidc'],
  clientId: string | undefined,
): readonly SignedOutSession[] {
  const hint = entities.IdTokenHint as { readonly payload: { readonly sid?: unknown } } | undefined
  const sid = hint?.payload.sid
  return typeof sid === 'string' && clientId !== undefined ? [{ clientId, sid }] : []
}
