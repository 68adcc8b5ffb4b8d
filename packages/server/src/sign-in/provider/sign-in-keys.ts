/*
 * The keys that sign ID tokens, apart from those of SETs: no token can be taken for one of the other kind. Owns when
 * there is a new one. One is published two days before it signs and two days after, longer than Entra keeps what it
 * has read (24 h).
 */
import { createPrivateKey } from 'node:crypto'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { generateSigningKey } from '../../platform/secrets/generate-signing-key.ts'
import {
  insertSignInKey,
  listPublishedKeys,
  lockSignInKeys,
  type SignInKey,
} from './sign-in-key-store.ts'

export type SignInKeyDependencies = Pick<Foundation, 'db' | 'runChange' | 'clock' | 'sealer'>

/** A key with its private part, as a JWK. RFC 7517. */
export interface SigningJwk {
  readonly [member: string]: unknown
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
  readonly x5c: string[]
}

/** The keys of a process. */
export interface SignInKeys {
  /** Private JWKs: the one that signs first, then the others that are published. */
  current(): Promise<readonly SigningJwk[]>
  /** Reads them again at the next use. */
  forget(): void
  /** Makes the first key, and a new one when the last is old. */
  rotate(): Promise<void>
}

const LIFETIME_MS = 90 * DAY_MS
const PUBLICATION_MS = 2 * DAY_MS
const CERTIFICATE_MS = 3_650 * DAY_MS
const MODULUS_BITS = 2048

export function createSignInKeys(dependencies: SignInKeyDependencies): SignInKeys {
  const { db, clock } = dependencies
  let reading: Promise<readonly SigningJwk[]> | undefined
  let readUntilMs = 0

  async function read(): Promise<readonly SigningJwk[]> {
    const known = await listPublishedKeys(db, clock.now())
    if (known.length > 0) return toJwks(known)
    await rotate(dependencies)
    return toJwks(await listPublishedKeys(db, clock.now()))
  }

  function toJwks(keys: readonly SignInKey[]): readonly SigningJwk[] {
    const now = clock.now()
    const active = keys.findLast(({ activeFrom }) => activeFrom <= now) ?? keys[0]
    const others = keys.filter((key) => key !== active)
    return [...(active === undefined ? [] : [active]), ...others].map((key) =>
      toJwk(dependencies, key),
    )
  }

  return {
    current: async () => {
      const nowMs = clock.now().getTime()
      if (reading === undefined || nowMs >= readUntilMs) {
        readUntilMs = nowMs + REREAD_MS
        reading = read()
        reading.catch(() => (reading = undefined))
      }
      return reading
    },
    forget: () => (reading = undefined),
    rotate: async () => {
      await rotate(dependencies)
    },
  }
}

/** A key begins to sign by time, not by word. */
const REREAD_MS = 60_000

function toJwk({ sealer }: SignInKeyDependencies, key: SignInKey): SigningJwk {
  const pem = sealer.openText(key.privateKeySealed, contextOf(key.kid))
  return {
    ...createPrivateKey(pem).export({ format: 'jwk' }),
    kid: key.kid,
    alg: 'RS256',
    use: 'sig',
    x5c: [key.certificate],
  }
}

function contextOf(kid: string) {
  return { table: 'sign_in_key', column: 'private_key_sealed', id: kid } as const
}

async function rotate({ runChange, clock, sealer, db }: SignInKeyDependencies): Promise<void> {
  if (!isDue(await listPublishedKeys(db, clock.now()), clock.now())) return
  // Before the transaction: it takes a tenth of a second.
  const made = await generateSigningKey(MODULUS_BITS)
  const certificate = await certify(made.privateKeyPem, clock.now())
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await lockSignInKeys(change.tx)
    const at = change.now()
    const keys = await listPublishedKeys(change.tx, at)
    if (!isDue(keys, at)) return
    const leadMs = keys.length === 0 ? 0 : PUBLICATION_MS
    await insertSignInKey(
      change.tx,
      {
        kid: made.kid,
        publicJwk: made.publicJwk,
        privateKeySealed: sealer.seal(made.privateKeyPem, contextOf(made.kid)),
        certificate,
        createdAt: at,
        activeFrom: new Date(at.getTime() + leadMs),
      },
      new Date(at.getTime() + 2 * PUBLICATION_MS),
    )
    change.recordAudit({
      action: 'sign_in_key.created',
      target: { type: 'sign_in_key', id: made.kid },
      description: 'made a key that signs ID tokens',
    })
  })
}

function isDue(keys: readonly SignInKey[], at: Date): boolean {
  const newest = keys.at(-1)
  return newest === undefined || at.getTime() - newest.activeFrom.getTime() > LIFETIME_MS
}

/** DER in base64, as `x5c` holds it. RFC 7517 section 4.7. */
async function certify(privateKeyPem: string, at: Date): Promise<string> {
  // Loaded where a certificate is made, which is rare.
  const { issueSigningCertificate } = await import('../../platform/tls/issue-certificate.ts')
  const pem = await issueSigningCertificate('Heliograph sign-in', createPrivateKey(privateKeyPem), {
    notBefore: at,
    notAfter: new Date(at.getTime() + CERTIFICATE_MS),
  })
  return pem.replaceAll(/-----[^-]+-----|\s/g, '')
}
