// Verification of a SET: form, algorithm, signature, then the claims by @heliograph/ssf. Nothing
// of a token is believed before its signature has been checked.
import {
  parseSetClaims,
  SET_TYP,
  type SecurityEventToken,
  type SetErrorCode,
  type SetExpectations,
  type SetValidationCode,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import {
  compactVerify,
  decodeProtectedHeader,
  errors,
  type CryptoKey,
  type JSONWebKeySet,
} from 'jose'
import { decodeUtf8, parseJson } from './capped-body.ts'
import { SetVerificationError } from './errors.ts'
import {
  createLocalKeySource,
  createRemoteKeySource,
  type KeyHeader,
  type KeySource,
  type RemoteKeySourceOptions,
} from './key-source.ts'
import { requireAmounts } from './require-amounts.ts'

/** Signature algorithms that are accepted unless said otherwise: asymmetric ones only. */
export const DEFAULT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

/** What a verifier needs to know. */
export interface SetVerifierOptions {
  /** The transmitter's issuer, exactly as in its discovery document. */
  readonly issuer: string
  /** The audience or audiences of this receiver; one of them must be in `aud`. */
  readonly audience: string | readonly string[]
  /** The transmitter's keys: fixed, by URL, by URL with settings, or from a source of your own. */
  readonly keys:
    | { readonly jwks: JSONWebKeySet }
    | { readonly jwksUri: string }
    | RemoteKeySourceOptions
    | KeySource
  /** How far `iat` may lie in the future, in seconds. Default 60. */
  readonly clockToleranceSeconds?: number
  /** Accepted algorithms; symmetric ones and `none` are refused even when listed. */
  readonly algorithms?: readonly string[]
  /**
   * `critical_subject_members` of the transmitter's discovery document. A SET whose complex subject has one of these is
   * refused unless `interpretedSubjectMembers` names it: its receiver must not pass over it. SSF 1.0 section 3.6.
   */
  readonly criticalSubjectMembers?: readonly string[] | undefined
  /** The members of complex subjects that your code interprets, such as `device`. Default none. */
  readonly interpretedSubjectMembers?: readonly string[]
  /** Longest accepted token, in characters. Default 262144. */
  readonly tokenLengthMax?: number
  /** Now, in milliseconds since the epoch. */
  readonly nowMs?: () => number
}

/** A SET whose signature and claims are good. */
export interface VerifiedSet extends SecurityEventToken {
  /** The token as it came. */
  readonly token: string
  readonly header: { readonly alg: string; readonly kid?: string }
}

/** Verifies SETs of one issuer for one receiver. */
export interface SetVerifier {
  /**
   * @throws SetVerificationError with the error code that the transmitter is told.
   * @throws KeysUnavailableError when the keys cannot be had at the moment; try again later.
   */
  verify(token: string): Promise<VerifiedSet>
}

/**
 * Creates a verifier: compact JWS, asymmetric algorithm, known key, good signature, `typ`
 * `secevent+jwt`, issuer, audience, `jti`, `iat` not in the future, no `exp`, no `sub`, exactly one
 * event, a subject without critical members that nobody interprets. RFC 8417 section 2, RFC 8935 section 2, SSF 1.0
 * section 3.6.
 *
 * @throws TypeError when the options cannot be used.
 */
export function createSetVerifier(options: SetVerifierOptions): SetVerifier {
  const algorithms = usableAlgorithms(options.algorithms ?? DEFAULT_ALGORITHMS)
  requireNames('issuer', [options.issuer])
  requireNames('audience', [options.audience].flat())
  const { clockToleranceSeconds } = options
  requireAmounts({ clockToleranceSeconds, tokenLengthMax: options.tokenLengthMax })
  const keySource = toKeySource(options.keys)
  const tokenLengthMax = options.tokenLengthMax ?? 256 * 1024
  return {
    async verify(token) {
      const header = readHeader(token, { algorithms, tokenLengthMax })
      refuseForeignIssuer(token, options.issuer)
      const payload = await verifyByKeySource(token, header, { keySource, algorithms })
      const result = parseSetClaims(header, payload, expectationsOf(options))
      if (!result.ok) {
        throw new SetVerificationError(setErrorCodeOf(result.code), result.description)
      }
      refuseCriticalMembers(result.set.subject, options)
      const { alg, kid } = header
      return { ...result.set, token, header: kid === undefined ? { alg } : { alg, kid } }
    },
  }
}

/** Checks the signature with the keys that fit the header, then with such as have been published since. */
async function verifyByKeySource(
  token: string,
  header: SetHeader,
  {
    keySource,
    algorithms,
  }: { readonly keySource: KeySource; readonly algorithms: readonly string[] },
): Promise<unknown> {
  const keys = await keySource.findKeys(header)
  try {
    return await verifySignature(token, keys, algorithms)
  } catch (error) {
    if (!(error instanceof SetVerificationError) || error.err === 'invalid_request') throw error
    const others = (await keySource.findOtherKeys?.(header, keys)) ?? []
    if (others.length === 0) throw error
    return verifySignature(token, others, algorithms)
  }
}

/** The header members that matter, as they were sent. */
export interface SetHeader extends KeyHeader {
  readonly typ: unknown
}

/**
 * Reads the header of a token without believing it.
 *
 * @throws SetVerificationError when it is no compact JWS or its algorithm is not accepted.
 */
export function readHeader(
  token: string,
  limits: { readonly algorithms: readonly string[]; readonly tokenLengthMax: number },
): SetHeader {
  if (token.length > limits.tokenLengthMax) {
    throw new SetVerificationError('invalid_request', 'the SET is too large')
  }
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) {
    throw new SetVerificationError('invalid_request', 'the body is not a compact JWS')
  }
  const header = decodeHeader(token)
  const { alg, kid, typ } = header
  if (typeof alg !== 'string' || !limits.algorithms.includes(alg)) {
    throw new SetVerificationError('invalid_key', 'the signature algorithm is not accepted')
  }
  if (kid !== undefined && typeof kid !== 'string') {
    throw new SetVerificationError('invalid_request', 'the kid header must be a string')
  }
  return kid === undefined ? { alg, typ } : { alg, kid, typ }
}

/** Maps a failed claim check to what the transmitter is told. RFC 8935 section 2.4. */
function setErrorCodeOf(code: SetValidationCode): SetErrorCode {
  if (code === 'iss') return 'invalid_issuer'
  return code === 'aud' ? 'invalid_audience' : 'invalid_request'
}

/** Reads the payload of a token without checking anything; undefined when it is not JSON. */
export function readUnverifiedPayload(token: string): unknown {
  const encoded = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  try {
    return parseJson(decodeUtf8(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))))
  } catch {
    return undefined
  }
}

/**
 * Checks the signature with the candidate keys and answers the parsed payload.
 *
 * @throws SetVerificationError `authentication_failed` when no key made the signature.
 */
export async function verifySignature(
  token: string,
  keys: readonly CryptoKey[],
  algorithms: readonly string[],
): Promise<unknown> {
  let failure: unknown
  for (const key of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [...algorithms] })
      return parseJson(decodeUtf8(Uint8Array.from(payload)))
    } catch (error) {
      failure = error
    }
  }
  throw signatureError(failure)
}

/** Leaves asymmetric algorithms only. */
export function usableAlgorithms(algorithms: readonly string[]): readonly string[] {
  const usable = algorithms.filter((algorithm) => /^(RS|PS|ES|Ed)/.test(algorithm))
  if (usable.length === 0) throw new TypeError('algorithms must name an asymmetric algorithm')
  return usable
}

/** A name that is missing, of a variable that is not set perhaps, would let in what is meant for others. */
function requireNames(option: 'issuer' | 'audience', names: readonly unknown[]): void {
  const isName = (name: unknown) => typeof name === 'string' && name.trim() !== ''
  if (names.length > 0 && names.every(isName)) return
  throw new TypeError(`${option} must be given and not be empty`)
}

/** Makes a key source of the forms that options allow. */
function toKeySource(keys: SetVerifierOptions['keys']): KeySource {
  if ('findKeys' in keys) return keys
  return 'jwks' in keys ? createLocalKeySource(keys.jwks) : createRemoteKeySource(keys)
}

function expectationsOf(options: SetVerifierOptions): SetExpectations {
  return {
    issuer: options.issuer,
    audience: options.audience,
    nowMs: (options.nowMs ?? Date.now)(),
    clockToleranceSeconds: options.clockToleranceSeconds ?? 60,
  }
}

/** An event about a session only must not count for every session of the user, because nobody looks at the session. */
function refuseCriticalMembers(
  subject: SubjectIdentifier,
  { criticalSubjectMembers = [], interpretedSubjectMembers = [] }: SetVerifierOptions,
): void {
  if (subject.format !== 'complex') return
  const member = criticalSubjectMembers.find(
    (name) => Object.hasOwn(subject, name) && !interpretedSubjectMembers.includes(name),
  )
  if (member === undefined) return
  const description = `the subject has the critical member ${member}, which is not interpreted here`
  throw new SetVerificationError('invalid_request', description)
}

/** Names the real cause when the token comes from elsewhere; its key would only be unknown. */
function refuseForeignIssuer(token: string, issuer: string): void {
  const payload = readUnverifiedPayload(token)
  if (typeof payload !== 'object' || payload === null || !('iss' in payload)) return
  if (payload.iss !== issuer) {
    throw new SetVerificationError('invalid_issuer', 'iss is not the issuer of this stream')
  }
}

function decodeHeader(token: string): Readonly<Record<string, unknown>> {
  try {
    return decodeProtectedHeader(token)
  } catch (error) {
    throw new SetVerificationError('invalid_request', `the header of the ${SET_TYP} is malformed`, {
      cause: error,
    })
  }
}

function signatureError(cause: unknown): SetVerificationError {
  if (cause instanceof errors.JWSSignatureVerificationFailed) {
    return new SetVerificationError('authentication_failed', 'the signature is wrong', { cause })
  }
  if (cause instanceof errors.JWSInvalid) {
    return new SetVerificationError('invalid_request', 'the body is not a valid JWS', { cause })
  }
  return new SetVerificationError('invalid_key', 'the key does not suit the signature', { cause })
}
