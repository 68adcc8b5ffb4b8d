import type { ApiKey } from './api-key-store.ts'

export const KEY_STATES = ['live', 'expired', 'revoked'] as const

/** What a key is good for, in a word. */
export type KeyState = (typeof KEY_STATES)[number]

/** The state of a key at a time. */
export function toKeyState(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, at: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked'
  return key.expiresAt !== null && key.expiresAt <= at ? 'expired' : 'live'
}
