/*
 * The codes of authenticator apps: TOTP (RFC 6238) with HMAC-SHA-1, six digits and steps of 30 seconds, which is
 * what every app knows. Owns which step a code is of; that a step is taken once, whoever stores it decides.
 */
import { SECOND_MS } from '../clock.ts'
import { newKeyBytes } from '../ids.ts'

/** As long as the output of the HMAC (RFC 4226 section 4, R6). */
const SECRET_BYTES = 20
const STEP_MS = 30 * SECOND_MS
const STEP_SECONDS = STEP_MS / SECOND_MS
const DIGITS = 6
/** Steps before and after the present one whose codes count (RFC 6238 section 5.2). */
const WINDOW = 1

const CODE = /^\d{6}$/

/** A new secret that an app and the service share. */
export function newCodeSecret(): Buffer {
  return newKeyBytes(SECRET_BYTES)
}

/** The number of the step whose code it is, around this time; undefined for any other text. */
export async function findCodeStep(
  secret: Buffer,
  text: string,
  at: Date,
): Promise<number | undefined> {
  const token = text.replaceAll(/\s/g, '')
  if (!CODE.test(token)) return undefined
  const { Secret, TOTP } = await import('otpauth')
  const timestamp = at.getTime()
  const moved = TOTP.validate({
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
    ...{ token, timestamp, window: WINDOW, digits: DIGITS, period: STEP_SECONDS },
  })
  return moved === null ? undefined : Math.floor(timestamp / STEP_MS) + moved
}

/** What an app is told of a secret. */
export interface AppEntry {
  /** Base32 (RFC 4648), for typing. */
  readonly key: string
  /** `otpauth://totp/...`, for a QR code. */
  readonly uri: string
}

/** `issuer` is what the app shows above the codes, `account` whose they are. */
export async function describeToApp(
  secret: Buffer,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): Promise<AppEntry> {
  const { Secret, TOTP } = await import('otpauth')
  const shared = new Secret({ buffer: new Uint8Array(secret).buffer })
  const totp = new TOTP({
    // A colon ends the issuer in the label.
    issuer: issuer.replaceAll(':', ' '),
    label: account,
    secret: shared,
    digits: DIGITS,
    period: STEP_SECONDS,
  })
  return { key: shared.base32, uri: totp.toString() }
}

/** The secret that an app was told; undefined for a text that is none. */
export async function readAppKey(key: string): Promise<Buffer | undefined> {
  if (!APP_KEY.test(key)) return undefined
  const { Secret } = await import('otpauth')
  return Buffer.from(Secret.fromBase32(key).bytes)
}

/** 20 bytes in base32. */
const APP_KEY = /^[A-Z2-7]{32}$/
