import { checkSetClaims, type SetValidationCode } from '@heliograph/ssf'
import { KeysUnavailableError, SetVerificationError } from './errors.ts'
import type { KeySource } from './key-source.ts'
import { requireAmounts } from './require-amounts.ts'
import {
  DEFAULT_ALGORITHMS,
  readHeader,
  readUnverifiedPayload,
  usableAlgorithms,
  verifySignature,
} from './verify-set.ts'

/** What is looked at, in order: the form and algorithm, the signature, then the claims. */
export type DiagnosisCheck = 'header' | 'signature' | SetValidationCode

/** The outcome of one check. */
export interface DiagnosisResult {
  readonly check: DiagnosisCheck
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly description: string
}

/** Everything that can be said about a token; the claims are to be believed only when `isValid`. */
export interface SetDiagnosis {
  /** False also when the keys cannot be had: see `keysUnavailable`. */
  readonly isValid: boolean
  /** Why the keys cannot be had; the signature is then skipped, and says nothing of the token. */
  readonly keysUnavailable?: KeysUnavailableError
  readonly claims: unknown
  readonly results: readonly DiagnosisResult[]
}

/** What a token is compared with; an expectation that is left out is skipped. */
export interface DiagnosisOptions {
  readonly keys: KeySource
  readonly issuer?: string | undefined
  readonly audience?: string | readonly string[] | undefined
  /** How far `iat` may lie in the future, in seconds. Default 60. */
  readonly clockToleranceSeconds?: number
  /** Now, in milliseconds since the epoch. */
  readonly nowMs?: () => number
}

/**
 * Runs every check on a token and reports each, instead of stopping at the first failure. For people
 * who look into a problem; receivers verify.
 *
 * @throws TypeError when `clockToleranceSeconds` is none.
 */
export async function diagnoseSet(token: string, options: DiagnosisOptions): Promise<SetDiagnosis> {
  requireAmounts({ clockToleranceSeconds: options.clockToleranceSeconds })
  const claims = readUnverifiedPayload(token)
  const { header, ...signed } = await checkSignature(token, options.keys)
  const issuer = options.issuer ?? issuerOf(claims) ?? ''
  const checked = checkSetClaims(header, claims, {
    issuer,
    ...(options.audience === undefined ? {} : { audience: options.audience }),
    nowMs: (options.nowMs ?? Date.now)(),
    clockToleranceSeconds: options.clockToleranceSeconds ?? 60,
  })
  const results = [
    ...signed.results,
    ...checked.map(({ code, ok, description }): DiagnosisResult => {
      const isUnasked =
        (code === 'iss' && options.issuer === undefined) ||
        (code === 'aud' && options.audience === undefined)
      if (ok && isUnasked) return skipped(code, 'nothing was given to compare it with')
      return { check: code, outcome: ok ? 'passed' : 'failed', description }
    }),
  ]
  const { keysUnavailable } = signed
  if (keysUnavailable !== undefined) return { isValid: false, keysUnavailable, claims, results }
  return { isValid: results.every(({ outcome }) => outcome !== 'failed'), claims, results }
}

/** What was found before the claims are looked at. */
interface SignatureDiagnosis {
  readonly header: { readonly typ?: unknown }
  readonly results: readonly DiagnosisResult[]
  readonly keysUnavailable?: KeysUnavailableError
}

async function checkSignature(token: string, keySource: KeySource): Promise<SignatureDiagnosis> {
  const algorithms = usableAlgorithms(DEFAULT_ALGORITHMS)
  let header
  try {
    header = readHeader(token, { algorithms, tokenLengthMax: 256 * 1024 })
  } catch (error) {
    const results = [failed('header', error), skipped('signature', 'the header is not usable')]
    return { header: {}, results }
  }
  const key = header.kid === undefined ? 'no kid' : `kid ${header.kid}`
  const good: DiagnosisResult = {
    check: 'header',
    outcome: 'passed',
    description: `${header.alg}, ${key}`,
  }
  try {
    const keys = await keySource.findKeys(header)
    await verifySignature(token, keys, algorithms)
    return {
      header,
      results: [good, { check: 'signature', outcome: 'passed', description: 'good' }],
    }
  } catch (error) {
    if (error instanceof KeysUnavailableError) {
      const results = [good, skipped('signature', error.message)]
      return { header, results, keysUnavailable: error }
    }
    return { header, results: [good, failed('signature', error)] }
  }
}

function skipped(check: DiagnosisCheck, description: string): DiagnosisResult {
  return { check, outcome: 'skipped', description }
}

function failed(check: DiagnosisCheck, error: unknown): DiagnosisResult {
  if (error instanceof SetVerificationError) {
    return { check, outcome: 'failed', description: `${error.err}: ${error.message}` }
  }
  throw error
}

function issuerOf(claims: unknown): string | undefined {
  if (typeof claims !== 'object' || claims === null || !('iss' in claims)) return undefined
  return typeof claims.iss === 'string' ? claims.iss : undefined
}
