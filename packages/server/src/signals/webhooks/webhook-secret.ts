/*
 * Secrets of webhooks and the signatures made with them. Three forms: Standard Webhooks with a shared
 * secret (`v1`) or with a key pair (`v1a`), and the bare hex HMAC that receivers of the K2 service
 * check. Pure.
 */
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto'
import { newKeyBytes } from '../../platform/ids.ts'
import type { SealContext } from '../../platform/secrets/sealed-box.ts'
import type { Schema } from '../../schema/schema.ts'

export type SigningForm = Schema['webhook']['signing']

/** A secret that was just made. */
export interface GeneratedSecret {
  /** `whsec_` and base64, `whsk_` and base64, or hex digits. */
  readonly secret: string
  /** Of a key pair: `whpk_` and base64, which receivers verify with. */
  readonly publicKey: string | null
}

/** Standard Webhooks asks for 24 to 64 bytes. */
const SHARED_SECRET_BYTES = 32

const SHARED_PREFIX = 'whsec_'
const PRIVATE_PREFIX = 'whsk_'
const PUBLIC_PREFIX = 'whpk_'

/** The bytes before a raw Ed25519 private key in PKCS #8 (RFC 8410 section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const ED25519_SEED_BYTES = 32

/** A new secret of a form. */
export function generateWebhookSecret(form: SigningForm): GeneratedSecret {
  switch (form) {
    case 'standard': {
      const secret = SHARED_PREFIX + newKeyBytes(SHARED_SECRET_BYTES).toString('base64')
      return { secret, publicKey: null }
    }
    case 'hex':
      return { secret: newKeyBytes(SHARED_SECRET_BYTES).toString('hex'), publicKey: null }
    case 'ed25519':
      return generateKeyPair()
  }
}

/** Seed and public key together are the private key, as libraries for Ed25519 take it. */
function generateKeyPair(): GeneratedSecret {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-ED25519_SEED_BYTES)
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-ED25519_SEED_BYTES)
  return {
    secret: PRIVATE_PREFIX + Buffer.concat([seed, point]).toString('base64'),
    publicKey: PUBLIC_PREFIX + point.toString('base64'),
  }
}

/** The secret without the word that names its form. */
export function withoutPrefix(secret: string): string {
  return secret.replace(/^(?:whsec|whsk)_/, '')
}

/** The place of a sealed secret. */
export function webhookSecretContext(secretId: string): SealContext {
  return { table: 'webhook_secret', column: 'secret_sealed', id: secretId }
}

/** What is signed, apart from the key. */
export interface SignedMessage {
  readonly id: string
  /** Of the attempt, in whole seconds since the epoch. */
  readonly timestamp: number
  readonly body: string
}

/** Makes the signatures of one secret; reading the secret is done once. */
export interface WebhookSigner {
  /** One signature of `webhook-signature`: its version, a comma, base64. */
  sign(message: SignedMessage): string
  /** HMAC-SHA256 of the body alone, in lower-case hex; undefined for key pairs. */
  signBody(body: string): string | undefined
}

/**
 * A signer for a secret of a form. The key of a hex secret is its text, also in `webhook-signature`,
 * so that a receiver can move from the one header to the other with the secret that it has.
 */
export function createWebhookSigner(form: SigningForm, secret: string): WebhookSigner {
  switch (form) {
    case 'standard':
      return sharedSigner(Buffer.from(secret.slice(SHARED_PREFIX.length), 'base64'))
    case 'hex':
      return sharedSigner(Buffer.from(secret))
    case 'ed25519': {
      const key = readPrivateKey(secret)
      return {
        sign: (message) =>
          `v1a,${sign(null, Buffer.from(toText(message)), key).toString('base64')}`,
        signBody: () => undefined,
      }
    }
  }
}

function sharedSigner(key: Buffer): WebhookSigner {
  return {
    sign: (message) => `v1,${createHmac('sha256', key).update(toText(message)).digest('base64')}`,
    signBody: (body) => createHmac('sha256', key).update(body).digest('hex'),
  }
}

function readPrivateKey(secret: string): KeyObject {
  const bytes = Buffer.from(secret.slice(PRIVATE_PREFIX.length), 'base64')
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, ED25519_SEED_BYTES)])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

function toText({ id, timestamp, body }: SignedMessage): string {
  return `${id}.${timestamp}.${body}`
}
