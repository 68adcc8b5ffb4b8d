import { diagnoseSet, type SetDiagnosis } from '../diagnose-set.ts'
import { TransmitterError, type KeysUnavailableError } from '../errors.ts'
import { openKeySource, type KeyLocation } from './key-location.ts'
import { printable, type TextOutput } from './text-output.ts'

/** What `verifyToken` needs. */
export interface VerifyTokenOptions extends KeyLocation {
  /** The token; without it, it is read from `input`. */
  readonly token?: string | undefined
  /** Where the token is read from; `process.stdin` is one. */
  readonly input?: AsyncIterable<string | Uint8Array> | undefined
  readonly audience?: string | readonly string[] | undefined
  /** One JSON object instead of text. */
  readonly isJson?: boolean
  readonly output: TextOutput
}

/** The outcome; `isValid` is the word for the exit code. */
export type VerifyTokenResult = SetDiagnosis

const INPUT_BYTES_MAX = 256 * 1024

/**
 * Checks one token and prints its claims and every check, passed, failed or skipped. Without an
 * issuer the `iss` claim is not compared; without an audience neither is `aud`.
 *
 * @throws TypeError when there is no token, or no place to have the keys from.
 * @throws TransmitterError when the discovery document cannot be had, or the keys of a token that
 *   passes every other check.
 */
export async function verifyToken(options: VerifyTokenOptions): Promise<VerifyTokenResult> {
  const token = (options.token ?? (await readInput(options.input))).trim()
  if (token === '') throw new TypeError('there is no token')
  const diagnosis = await diagnoseSet(token, {
    keys: await openKeySource(options),
    issuer: options.issuer,
    audience: options.audience,
  })
  options.output.write(options.isJson === true ? toJsonText(diagnosis) : toText(diagnosis))
  if (isUndecided(diagnosis)) throw toTransmitterError(diagnosis.keysUnavailable)
  return diagnosis
}

/** A token whose keys cannot be had is not bad, unless something else of it is. */
function isUndecided({ keysUnavailable, results }: SetDiagnosis): boolean {
  return keysUnavailable !== undefined && results.every(({ outcome }) => outcome !== 'failed')
}

/** Whatever kept the keys back, it is not the token that is refused. */
function toTransmitterError(error: KeysUnavailableError | undefined): TransmitterError {
  const { message = 'the keys of the transmitter cannot be had', cause } = error ?? {}
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  return new TransmitterError('unavailable', reason, { cause: error })
}

function toJsonText(diagnosis: SetDiagnosis): string {
  const { isValid, claims, results } = diagnosis
  const valid = isUndecided(diagnosis) ? null : isValid
  return `${JSON.stringify({ valid, claims: claims ?? null, checks: results }, null, 2)}\n`
}

function toText(diagnosis: SetDiagnosis): string {
  const { claims, results } = diagnosis
  const claimLines = claims === undefined ? ['no readable claims'] : formatJson(claims)
  const checkLines = results.map(({ check, outcome, description }) =>
    printable(`${outcome.padEnd(8)}${check.padEnd(10)} ${description}`),
  )
  return [...claimLines, '', ...checkLines, '', toVerdict(diagnosis), ''].join('\n')
}

function toVerdict(diagnosis: SetDiagnosis): string {
  if (isUndecided(diagnosis)) return 'not known: the keys cannot be had'
  return diagnosis.isValid ? 'valid' : 'NOT VALID'
}

function formatJson(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n').map(printable)
}

async function readInput(input: VerifyTokenOptions['input']): Promise<string> {
  if (input === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of input) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    if (text.length > INPUT_BYTES_MAX) throw new TypeError('the input is too large for a token')
  }
  return text
}
