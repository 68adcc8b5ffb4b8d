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

/** Signs in by a password with a code of the authenticator app. */
export function signInByPassword(proof: {
  readonly email: string
  readonly password: string
  readonly code: string
}): Promise<Session> {
  return post('/console/session/password', proof)
}

/** By what the admin can prove to be there. */
export interface StepUpWays {
  readonly passkey: AuthenticationOptions | null
  readonly code: boolean
}

export function readStepUpWays(): Promise<StepUpWays> {
  return post('/console/session/step_up_options')
}

/** Proves by a passkey that the admin is there, with a challenge that was just made. */
export async function stepUpByPasskey(): Promise<Session> {
  const { passkey } = await readStepUpWays()
  if (passkey === null) throw new Error('the passkeys are gone')
  const credential = await startAuthentication({ optionsJSON: passkey })
  return post('/console/session/step_up', { credential })
}

export function stepUpByCode(code: string): Promise<Session> {
  return post('/console/session/step_up_code', { code })
}

/** The password of the admin, without what must not be seen. */
export interface OwnPassword {
  readonly changed_at: string
  readonly last_used_at: string | null
  /** Too many codes were refused. */
  readonly is_closed: boolean
}

/** A key for an authenticator app, which counts once the app has given a code. */
export interface AppOffer {
  readonly key: string
  /** What the QR code says. */
  readonly uri: string
  readonly proof: string
}

export async function readPassword(signal: AbortSignal): Promise<OwnPassword | null> {
  const { password } = await get<{ password: OwnPassword | null }>(OWN_PASSWORD, signal)
  return password
}

export function offerApp(): Promise<AppOffer> {
  return post(`${OWN_PASSWORD}/options`)
}

export function setUpPassword(
  { key, proof }: AppOffer,
  chosen: { readonly password: string; readonly code: string },
): Promise<Session> {
  return post(OWN_PASSWORD, { key, proof, ...chosen })
}

export async function changePassword(password: string): Promise<Session> {
  const { data } = await client.patch<{ 200: Session }, unknown, true>({
    url: OWN_PASSWORD,
    body: { password },
    headers: { 'Content-Type': 'application/json' },
    throwOnError: true,
  })
  return data
}

export async function removePassword(): Promise<void> {
  await client.delete({ url: OWN_PASSWORD })
}

const OWN_PASSWORD = '/console/session/own_password'

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
