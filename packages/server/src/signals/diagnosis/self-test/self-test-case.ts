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

interface CaseDescription {
  readonly name: string
  /** What is sent, in words. */
  readonly sent: string
  readonly expectation: Expectation
  /** What it means when the receiver gets this wrong. */
  readonly risk: string
}

/** One SET of a self-test, before it is sent. */
export interface SelfTestCase extends CaseDescription {
  readonly jti: string | null
  /** The body of the push; null when the case cannot be made here. */
  readonly body: string | null
}

/** What the cases are made of. */
interface CaseMaterial {
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

type Claims = Readonly<Record<string, unknown>>

/** A case, and how its body is made from the claims of a right event. */
interface CaseRecipe extends CaseDescription {
  readonly toBody: (claims: Claims, material: CaseMaterial) => string | null
  /** Whether the body is one token, by whose `jti` the case is known. */
  readonly isToken?: boolean
}

const OVERSIZE_BYTES = 1_048_576

const ACCEPTED: Expectation = { kind: 'accept' }
const KEY_REFUSED = refused('invalid_key', 'authentication_failed')
const REQUEST_REFUSED = refused('invalid_request')

const GOOD_SET: CaseRecipe = {
  name: 'good_set',
  sent: 'a verification event that is right in every way',
  expectation: ACCEPTED,
  toBody: (claims, { signer }) => signer.sign(claims),
  risk: 'Real events would be refused too.',
}

const DUPLICATE: CaseDescription = {
  name: 'duplicate_jti',
  sent: 'the same verification event again',
  expectation: ACCEPTED,
  risk: 'An event whose answer was lost is sent again, and would count as failed.',
}

const OTHERS: readonly CaseRecipe[] = [
  {
    name: 'wrong_audience',
    sent: 'an event for another audience',
    expectation: refused('invalid_audience'),
    toBody: (claims, { signer }) =>
      signer.sign({ ...claims, aud: 'https://other-receiver.invalid/events' }),
    risk: 'Events that were made for somebody else could be replayed to this receiver.',
  },
  {
    name: 'wrong_issuer',
    sent: 'an event of another issuer',
    expectation: refused('invalid_issuer'),
    toBody: (claims, { signer, stream }) =>
      signer.sign({ ...claims, iss: `${stream.issuer}/other-issuer` }),
    risk: 'Whoever shares a key server with the issuer could speak in its name.',
  },
  {
    name: 'expiry_present',
    sent: 'an event with an `exp` claim, which events must not have',
    expectation: REQUEST_REFUSED,
    toBody: (claims, { signer, now }) =>
      signer.sign({ ...claims, exp: toEpochSeconds(now) + 3_600 }),
    risk: 'An access token of the same issuer could be passed off as an event.',
  },
  {
    name: 'unknown_event_type',
    sent: 'an event of a type that nobody has defined',
    expectation: ACCEPTED,
    toBody: (claims, { signer, stream }) =>
      signer.sign({
        ...claims,
        events: { [`${DEVICE_COMPLIANCE_CHANGE}.self-test`]: {} },
        sub_id: { format: 'opaque', id: stream.streamId },
      }),
    risk: 'A type that is added later would count as failed, instead of being passed over.',
  },
  {
    name: 'unknown_key',
    sent: 'an event that is signed with a key nobody has published',
    expectation: KEY_REFUSED,
    toBody: (claims, { unknownSigner }) => unknownSigner.sign(claims),
    risk: 'Anybody could make events.',
  },
  {
    name: 'bad_signature',
    sent: 'an event whose signature is not that of the key it names',
    expectation: KEY_REFUSED,
    toBody: (claims, { signer, unknownSigner }) => unknownSigner.sign(claims, { kid: signer.kid }),
    risk: 'Anybody could make events.',
  },
  {
    name: 'retired_key',
    sent: 'an event that is signed with a key which is not published any more',
    expectation: KEY_REFUSED,
    toBody: (claims, { retiredSigner }) => retiredSigner?.sign(claims) ?? null,
    risk: 'A key that was taken from the transmitter would be good for ever.',
  },
  {
    name: 'wrong_type',
    sent: 'an event whose header says `typ` JWT',
    expectation: REQUEST_REFUSED,
    toBody: (claims, { signer }) => signer.sign(claims, { typ: 'JWT' }),
    risk: 'An ID or access token of the same issuer could be passed off as an event.',
  },
  {
    name: 'not_a_token',
    sent: 'a body that is no token',
    expectation: REQUEST_REFUSED,
    isToken: false,
    toBody: (claims, { signer }) =>
      JSON.stringify({ test: 'not_a_token', of: signer.sign(claims).slice(0, 20) }),
    risk: 'Broken transmissions would be taken for delivered events.',
  },
  {
    name: 'batch',
    sent: 'two events in one body, which push does not know',
    expectation: REQUEST_REFUSED,
    isToken: false,
    toBody: (claims, { signer, newJti }) =>
      JSON.stringify([signer.sign(claims), signer.sign({ ...claims, jti: newJti() })]),
    risk: 'A part of what was sent would be lost without a word.',
  },
  {
    name: 'oversize',
    sent: 'an event of more than a mebibyte',
    expectation: { kind: 'refuse', errorCodes: ['invalid_request'], statuses: [413] },
    toBody: (claims, { signer }) => signer.sign({ ...claims, padding: 'x'.repeat(OVERSIZE_BYTES) }),
    risk: 'A sender could fill the memory of the receiver.',
  },
]

/** Makes the cases in the order in which they are sent: the good one first. */
export function listSelfTestCases(material: CaseMaterial): SelfTestCase[] {
  const good = makeCase(GOOD_SET, material)
  return [good, { ...good, ...DUPLICATE }, ...OTHERS.map((recipe) => makeCase(recipe, material))]
}

function makeCase(
  { toBody, isToken = true, ...description }: CaseRecipe,
  material: CaseMaterial,
): SelfTestCase {
  const { stream, txn, now, newJti } = material
  const jti = newJti()
  const test = { kind: 'self_test', case: description.name }
  const text = toVerificationClaims(stream, jti, { txn, at: now }, { test })
  const body = toBody(JSON.parse(text) as Claims, material)
  return { ...description, jti: isToken && body !== null ? jti : null, body }
}

function refused(...errorCodes: SetErrorCode[]): Expectation {
  return { kind: 'refuse', errorCodes }
}
