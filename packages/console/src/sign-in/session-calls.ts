/* The calls about the browser's own session: signing in, proving oneself again, own passkeys. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { client } from '../api/client.ts'
import type { Session } from '../shell/session.ts'

type AuthenticationOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']

export interface SignInLink {
  readonly kind: 'first_admin' | 'invitation' | 'recovery' | 'demo'
  readonly email: string | null
  readonly name: string | null
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly is_backed_up: boolean
  readonly created_at: string
  readonly last_used_at: string | null
}

export interface OpenSession {
  readonly id: string
  readonly method: string
  readonly user_agent: string | null
  readonly ip_address: string | null
  readonly created_at: string
  readonly last_used_at: string
}

/** Whom a link signs in; the link stays good. */
export function readLink(token: string): Promise<SignInLink> {
  return post('/console/session/link_details', { token })
}

/** Uses a link up. The link of the first admin asks for a name and an address. */
export function followLink(
  token: string,
  firstAdmin: Readonly<Record<string, string>>,
): Promise<Session> {
  return post('/console/session/link', { token, ...firstAdmin })
}

export async function signInByPasskey(): Promise<Session> {
  const optionsJSON = await post<AuthenticationOptions>('/console/session/passkey_options')
  return post('/console/session/passkey', {
    credential: await startAuthentication({ optionsJSON }),
  })
}

/** Proves that the admin is there. Rejects when there is no passkey to prove it by. */
export async function stepUp(): Promise<Session> {
  const { passkey } = await post<{ passkey: AuthenticationOptions | null }>(
    '/console/session/step_up_options',
  )
  if (passkey === null) throw new NoPasskeyError()
  const credential = await startAuthentication({ optionsJSON: passkey })
  return post('/console/session/step_up', { credential })
}

/** The admin has no passkey. */
export class NoPasskeyError extends Error {}

export async function addPasskey(name: string): Promise<Session> {
  const optionsJSON = await post<RegistrationOptions>('/console/session/passkeys/options')
  return post('/console/session/passkeys', {
    name,
    credential: await startRegistration({ optionsJSON }),
  })
}

export async function listPasskeys(signal: AbortSignal): Promise<readonly Passkey[]> {
  return (await get<{ data: Passkey[] }>('/console/session/passkeys', signal)).data
}

export async function removePasskey(id: string): Promise<void> {
  await client.delete({ url: `/console/session/passkeys/${encodeURIComponent(id)}` })
}

export async function listSessions(signal: AbortSignal): Promise<readonly OpenSession[]> {
  return (await get<{ data: OpenSession[] }>('/console/session/sessions', signal)).data
}

export async function endSession(id: string): Promise<void> {
  await client.delete({ url: `/console/session/sessions/${encodeURIComponent(id)}` })
}

async function get<Answer>(url: string, signal: AbortSignal): Promise<Answer> {
  const { data } = await client.get<{ 200: Answer }, unknown, true>({
    url,
    signal,
    throwOnError: true,
  })
  return data
}

async function post<Answer>(url: string, body?: object): Promise<Answer> {
  const { data } = await client.post<{ 200: Answer }, unknown, true>({
    url,
    throwOnError: true,
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
  })
  return data
}
