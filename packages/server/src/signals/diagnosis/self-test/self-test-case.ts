/*
 * The SETs of a self-test: one that a receiver must take, and others that it must refuse, each with what
 * RFC 8935 section 2.4 says about them. Every one is a verification event of the stream with a `test`
 * claim, so that even a receiver that takes everything acts on nothing.
 */
import { DEVICE_COMPLIANCE_CHANGE, type SetErrorCode } from '@heliograph/ssf'
import { toEpochSeconds } from '../../../platform/clock.ts'
import type { Stream } from '../../streams/stream-store.ts'
import { toVerificationClaims } from '../../sets/set-claims.ts'
import type { TestSigner } from './test-signer.ts'

/** What a receiver should do with the SET of a case. */
export type Expectation =
  | { readonly kind: 'accept' }
  | {
      readonly kind: 'refuse'
      readonly errorCodes: readonly SetErrorCode[]
      readonly statuses?: readonly number[]
    }

/** One SET of a self-test, before it is sent. */
export interface SelfTestCase {
  readonly name: SelfTestCaseName
  /** What is sent, in words. */
  readonly sent: string
  readonly expectation: Expectation
  readonly jti: string | null
  /** The body of the push; null when the case cannot be made here. */
  readonly body: string | null
  /** What it means when the receiver gets this wrong. */
  readonly risk: string
}

export const SELF_TEST_CASE_NAMES = [
  'good_set',
  'duplicate_jti',
  'wrong_audience',
  'wrong_issuer',
  'unknown_key',
  'bad_signature',
  'retired_key',
  'wrong_type',
  'expiry_present',
  'unknown_event_type',
  'not_a_token',
  'batch',
  'oversize',
] as const

export type SelfTestCaseName = (typeof SELF_TEST_CASE_NAMES)[number]

/** What the cases are made of. */
export interface CaseMaterial {
  readonly stream: Stream
  readonly now: Date
  readonly txn: string
  readonly newJti: () => string
  /** Signs with the key that the stream uses. */
  readonly signer: TestSigner
  /** Signs with a key that is not published any more; undefined when no key has been retired yet. */
  readonly retiredSigner: TestSigner | undefined
  /** Signs with a key that was never published. */
  readonly unknownSigner: TestSigner
}

const OVERSIZE_BYTES = 1_048_576
const KEY_ERRORS = ['invalid_key', 'authentication_failed'] as const

/** Makes the cases in the order in which they are sent: the good one first. */
export function listSelfTestCases(material: CaseMaterial): SelfTestCase[] {
  const { good, ...basics } = goodCases(material)
  return [
    good,
    basics.duplicate,
    ...claimCases(material),
    ...keyCases(material),
    ...formCases(material, good.body ?? ''),
  ]
}

function goodCases(material: CaseMaterial) {
  const claims = toClaims(material, 'good_set')
  const body = material.signer.sign(claims)
  const jti = String(claims['jti'])
  const good: SelfTestCase = {
    name: 'good_set',
    sent: 'a verification event that is right in every way',
    expectation: { kind: 'accept' },
    jti,
    body,
    risk: 'Real events would be refused too.',
  }
  const duplicate: SelfTestCase = {
    name: 'duplicate_jti',
    sent: 'the same verification event again',
    expectation: { kind: 'accept' },
    jti,
    body,
    risk: 'An event whose answer was lost is sent again, and would count as failed.',
  }
  return { good, duplicate }
}

function claimCases(material: CaseMaterial): SelfTestCase[] {
  const { signer, stream, now } = material
  const withClaims = (name: SelfTestCaseName, changes: Record<string, unknown>) => {
    const claims = { ...toClaims(material, name), ...changes }
    return { name, jti: String(claims['jti']), body: signer.sign(claims) }
  }
  return [
    {
      ...withClaims('wrong_audience', { aud: 'https://other-receiver.invalid/events' }),
      sent: 'an event for another audience',
      expectation: { kind: 'refuse', errorCodes: ['invalid_audience'] },
      risk: 'Events that were made for somebody else could be replayed to this receiver.',
    },
    {
      ...withClaims('wrong_issuer', { iss: `${stream.issuer}/other-issuer` }),
      sent: 'an event of another issuer',
      expectation: { kind: 'refuse', errorCodes: ['invalid_issuer'] },
      risk: 'Whoever shares a key server with the issuer could speak in its name.',
    },
    {
      ...withClaims('expiry_present', { exp: toEpochSeconds(now) + 3_600 }),
      sent: 'an event with an `exp` claim, which events must not have',
      expectation: { kind: 'refuse', errorCodes: ['invalid_request'] },
      risk: 'An access token of the same issuer could be passed off as an event.',
    },
    {
      ...withClaims('unknown_event_type', unknownEvent(material)),
      sent: 'an event of a type that nobody has defined',
      expectation: { kind: 'accept' },
      risk: 'A type that is added later would count as failed, instead of being passed over.',
    },
  ]
}

function unknownEvent({ stream }: CaseMaterial): Record<string, unknown> {
  const type = `${DEVICE_COMPLIANCE_CHANGE}.self-test`
  return { events: { [type]: {} }, sub_id: { format: 'opaque', id: stream.streamId } }
}

function keyCases(material: CaseMaterial): SelfTestCase[] {
  const { signer, retiredSigner, unknownSigner } = material
  const unknown = toClaims(material, 'unknown_key')
  const forged = toClaims(material, 'bad_signature')
  const retired = toClaims(material, 'retired_key')
  const typed = toClaims(material, 'wrong_type')
  const expectation: Expectation = { kind: 'refuse', errorCodes: KEY_ERRORS }
  return [
    {
      name: 'unknown_key',
      sent: 'an event that is signed with a key nobody has published',
      expectation,
      jti: String(unknown['jti']),
      body: unknownSigner.sign(unknown),
      risk: 'Anybody could make events.',
    },
    {
      name: 'bad_signature',
      sent: 'an event whose signature is not that of the key it names',
      expectation,
      jti: String(forged['jti']),
      body: unknownSigner.sign(forged, { kid: signer.kid }),
      risk: 'Anybody could make events.',
    },
    {
      name: 'retired_key',
      sent: 'an event that is signed with a key which is not published any more',
      expectation,
      jti: retiredSigner === undefined ? null : String(retired['jti']),
      body: retiredSigner?.sign(retired) ?? null,
      risk: 'A key that was taken from the transmitter would be good for ever.',
    },
    {
      name: 'wrong_type',
      sent: 'an event whose header says `typ` JWT',
      expectation: { kind: 'refuse', errorCodes: ['invalid_request'] },
      jti: String(typed['jti']),
      body: signer.sign(typed, { typ: 'JWT' }),
      risk: 'An ID or access token of the same issuer could be passed off as an event.',
    },
  ]
}

function formCases(material: CaseMaterial, goodToken: string): SelfTestCase[] {
  const { signer } = material
  const large = toClaims(material, 'oversize')
  const tokens = [toClaims(material, 'batch'), toClaims(material, 'batch')].map((claims) =>
    signer.sign(claims),
  )
  return [
    {
      name: 'not_a_token',
      sent: 'a body that is no token',
      expectation: { kind: 'refuse', errorCodes: ['invalid_request'] },
      jti: null,
      body: `{"test":"not_a_token","of":${JSON.stringify(goodToken.slice(0, 20))}}`,
      risk: 'Broken transmissions would be taken for delivered events.',
    },
    {
      name: 'batch',
      sent: 'two events in one body, which push does not know',
      expectation: { kind: 'refuse', errorCodes: ['invalid_request'] },
      jti: null,
      body: JSON.stringify(tokens),
      risk: 'A part of what was sent would be lost without a word.',
    },
    {
      name: 'oversize',
      sent: 'an event of more than a mebibyte',
      expectation: { kind: 'refuse', errorCodes: ['invalid_request'], statuses: [413] },
      jti: String(large['jti']),
      body: signer.sign({ ...large, padding: 'x'.repeat(OVERSIZE_BYTES) }),
      risk: 'A sender could fill the memory of the receiver.',
    },
  ]
}

/** The claims of a right verification event, marked as a test. */
function toClaims(material: CaseMaterial, name: SelfTestCaseName): Record<string, unknown> {
  const { stream, txn, now, newJti } = material
  const text = toVerificationClaims(
    stream,
    newJti(),
    { txn, at: now },
    {
      test: { kind: 'self_test', case: name },
    },
  )
  return JSON.parse(text) as Record<string, unknown>
}
