import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import { generateSigningKey } from '../../../platform/secrets/generate-signing-key.ts'
import { isPublished } from '../../signing/signing-key.ts'
import { getSigningKey, listSigningKeys } from '../../signing/signing-key-store.ts'
import { privateKeyContext } from '../../signing/signing-keys.ts'

/** Signs claims as a SET, or as something that only resembles one. */
export interface TestSigner {
  readonly kid: string
  sign(claims: object, header?: { readonly kid?: string; readonly typ?: string }): string
}

/** The key with which a stream signs, for a handful of tokens outside the signing threads. */
export async function openTestSigner(
  db: Kysely<Schema>,
  sealer: Pick<Sealer, 'openText'>,
  kid: string,
): Promise<TestSigner> {
  const { privateKeySealed: sealed } = await getSigningKey(db, kid)
  const pem = sealer.openText(sealed, privateKeyContext(kid))
  return createTestSigner(kid, createPrivateKey(pem))
}

/** The key whose publication ended last; undefined when there is none. Revoked keys are left alone. */
export async function openRetiredSigner(
  db: Kysely<Schema>,
  sealer: Pick<Sealer, 'openText'>,
  now: Date,
): Promise<TestSigner | undefined> {
  const keys = await listSigningKeys(db)
  const retired = keys.find((key) => !isPublished(key, now) && key.revokedAt === null)
  return retired === undefined ? undefined : openTestSigner(db, sealer, retired.kid)
}

/** A key that nobody has published and nobody keeps. Takes a tenth of a second or more. */
export async function createUnknownSigner(): Promise<TestSigner> {
  const { kid, privateKeyPem } = await generateSigningKey(2048)
  return createTestSigner(kid, createPrivateKey(privateKeyPem))
}

function createTestSigner(kid: string, privateKey: KeyObject): TestSigner {
  return {
    kid,
    sign(claims, header = {}) {
      const members = { alg: 'RS256', kid: header.kid ?? kid, typ: header.typ ?? 'secevent+jwt' }
      const signed = [members, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
      const signature = sign('sha256', Buffer.from(signed, 'latin1'), privateKey)
      return `${signed}.${signature.toString('base64url')}`
    },
  }
}
