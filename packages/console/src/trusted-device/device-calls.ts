/* The proof of the device: where the browser goes for it, and what it does when it comes back. */
import { client, sendForToken } from '../api/client.ts'
import type { Session } from '../shell/session.ts'

/** Where the console asks for a device; sign-ins of the person come back to it. */
export const DEVICE_PATH = '/console/trusted-device'

/** Where a person signs in to the own pages, by which the device is proven. */
export const PROOF_ACTION = '/sign-in/me/sign-in'

/** What of this window is kept while it is at the proof. */
const UNDER_WAY = 'heliograph device'

/** Notes that the browser leaves for the proof of its device, and where it goes afterwards. */
export function noteDeparture(next: string): void {
  globalThis.sessionStorage.setItem(UNDER_WAY, next)
}

/** Where to go after the proof from which the browser has come back; undefined for one that comes from elsewhere. */
export function readReturn(): string | undefined {
  return globalThis.sessionStorage.getItem(UNDER_WAY) ?? undefined
}

/** Forgets the departure: whoever opens the page again has not come back from a proof. */
export function forgetDeparture(): void {
  globalThis.sessionStorage.removeItem(UNDER_WAY)
}

/** Binds the session to the device that the browser has just proven. */
export async function bindSession(): Promise<Session> {
  const { data } = await client.post<{ 200: Session }, unknown, true>({
    url: '/console/session/device',
    fetch: sendForToken,
    throwOnError: true,
  })
  return data
}
