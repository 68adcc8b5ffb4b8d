import { SESSION_REVOKED, type SubjectIdentifier } from '@heliograph/ssf'
import { beforeAll, expect, test } from 'vitest'
import { toRevokedSession } from '../src/index.ts'
import { toEventLine } from '../src/cli/event-line.ts'
import type { SetVerifier } from '../src/index.ts'
import {
  createTestKey,
  createTestVerifier,
  goodClaims,
  NOW_MS,
  signSet,
  type TestKey,
} from './support/signing.ts'

let key: TestKey
let verifier: SetVerifier

beforeAll(async () => {
  key = await createTestKey('k1')
  verifier = createTestVerifier(key)
})

const SESSION = { format: 'opaque', id: 'sid-1' } as const
const USER = { format: 'email', email: 'ada@example.com' } as const

async function verify(subject: SubjectIdentifier, payload: object = {}) {
  const event = { type: SESSION_REVOKED, payload }
  return verifier.verify(await signSet(key, goodClaims({ subject, event })))
}

test('a revoked session is read with its user, when and why', async () => {
  const reason_admin = { en: 'The device of the session is blocked.' }
  const set = await verify(
    { format: 'complex', session: SESSION, user: USER },
    { event_timestamp: 1_700_000_000, initiating_entity: 'policy', reason_admin },
  )
  expect(toRevokedSession(set)).toMatchObject({
    session: SESSION,
    user: USER,
    device: undefined,
    revokedAt: 1_700_000_000,
    initiatingEntity: 'policy',
    reasonAdmin: reason_admin,
  })
  expect(toEventLine(set, NOW_MS)).toContain(
    'session-revoked  reason="The device of the session is blocked."  session=sid-1 user=ada@example.com',
  )
})

test('a simple subject names no session, and the time of issue stands for a missing one', async () => {
  const set = await verify(USER)
  expect(toRevokedSession(set)).toMatchObject({
    session: undefined,
    subject: USER,
    revokedAt: set.iat,
  })
})

test('another event is no revoked session', async () => {
  expect(toRevokedSession(await verifier.verify(await signSet(key)))).toBeUndefined()
})

test('a time in milliseconds, as of older drafts, is read as such', async () => {
  const set = await verify(USER, { event_timestamp: 1_700_000_000_000 })
  expect(toRevokedSession(set)?.revokedAt).toBe(1_700_000_000)
})
