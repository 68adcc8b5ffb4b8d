/* What the script of a sign-in sends of the key of its browser, and what its page tells the script. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { toKeyChallenge, type KeySignature } from './key-statement.ts'
import type { ShownKey } from './show-browser-key.ts'

/** 32 bytes, base64url: a coordinate of a point. */
const coordinate = z.string().regex(/^[\w-]{43}$/)
const jwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: coordinate,
  y: coordinate,
})
/** 64 bytes, base64url. */
const signed = z.strictObject({ public_key: jwk, signature: z.string().regex(/^[\w-]{86}$/) })

/** As many answers of the service as a browser may have missed one after another. */
const SIGNATURES_MAX = 8

const shownBody = z.strictObject({
  id: z.uuid(),
  signatures: z.array(signed).min(1).max(SIGNATURES_MAX),
  next: jwk,
})

const resultBody = z.strictObject({ new_key: signed.optional() }).optional()

/** @throws AppError `invalid_body` */
export function parseShownKey(body: unknown): ShownKey {
  const { id, signatures, next } = parse(shownBody, body)
  return { id, next, signatures: signatures.map(toSignature) }
}

/**
 * The key that is to be bound with the result of a proof; undefined without one.
 *
 * @throws AppError `invalid_body`
 */
export function parseNewKey(body: unknown): KeySignature | undefined {
  const key = parse(resultBody, body ?? undefined)?.new_key
  return key && toSignature(key)
}

/**
 * The same from a field of a form, which holds it as JSON.
 *
 * @throws AppError `invalid_body`
 */
export function parseNewKeyField(text: string | undefined): KeySignature | undefined {
  return text === undefined ? undefined : toSignature(parse(signed, parseJson(text)))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toSignature({ public_key: publicKey, signature }: z.infer<typeof signed>): KeySignature {
  return { publicKey, signature }
}

function parse<Value>(schema: z.ZodType<Value>, body: unknown): Value {
  const { success, data } = schema.safeParse(body)
  if (success) return data
  throw new AppError('invalid_body', 'That is no key of a browser.')
}

/** What the script of a page needs to show a key. */
export interface KeyRequest {
  readonly challenge: string
  /** Names the person among those who use the browser; tells nobody who it is. */
  readonly owner: string
}

const OWNER_LENGTH = 22

/** What a page asks the browser for; undefined where nobody signs in yet. */
export function toKeyRequest(attempt: Attempt, baseUrl: string): KeyRequest | undefined {
  const { personId } = attempt
  if (personId === null) return undefined
  const owner = createHash('sha256').update(`browser key of ${personId}`).digest('base64url')
  return { challenge: toKeyChallenge(attempt, baseUrl), owner: owner.slice(0, OWNER_LENGTH) }
}
