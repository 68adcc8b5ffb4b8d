/*
 * The hint that Entra signs of a person. Owns which keys count and which claims must hold; keys are fetched through the
 * guarded client, kept for an hour, and asked for anew at most once a minute for a key that is not among them.
 */
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import { z } from 'zod'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { GuardedClient } from '../../platform/net/guarded-client.ts'
import { shareReading } from '../../platform/shared-reading.ts'
import type { ExplainedRefusal, RefusedField } from '../applications/requests/explain-refusal.ts'

/** Whom a hint must be for. */
export interface ExpectedHint {
  /** Of the cloud of the tenant. */
  readonly authority: string
  readonly tenantId: string
  /** The id of our application in Entra, which hints are made for. */
  readonly appId: string
}

/** What a hint proves. */
export interface EntraPerson {
  /** Pairwise: what the answer must say again. */
  readonly subject: string
  readonly tenantId: string
  /** With the tenant, the account. */
  readonly objectId: string
  readonly username: string
}

/** Why a hint proves nothing: words for the log and for admins, never for the browser. */
export class EntraHintError extends Error {
  /** What was wrong, and what stood there where that may be kept. */
  readonly refusal: ExplainedRefusal

  constructor(
    field: RefusedField,
    { given = null, cause }: { readonly given?: string | null; readonly cause?: unknown } = {},
  ) {
    super(`the hint of Entra was refused: ${field}`, cause === undefined ? {} : { cause })
    this.refusal = { field, given }
  }
}

export type VerifyEntraHint = (hint: string, expected: ExpectedHint) => Promise<EntraPerson>

const KEYS_FRESH_MS = HOUR_MS
const KEYS_REREAD_MS = MINUTE_MS
const AUTHORITIES_MAX = 100
const HINT_LENGTH_MAX = 16_384
/** Hints are made to be expired; how long ago one was made counts. */
const AGE_MAX_SECONDS = 600
const SKEW_SECONDS = 60

const claimsSchema = z.object({
  sub: z.string().min(1).max(255),
  oid: z.uuid(),
  tid: z.string(),
  preferred_username: z.string().min(3).max(254),
  iat: z.number(),
})

/** Verifies hints. @throws EntraHintError for whatever proves nothing */
export function createEntraHintVerifier(
  client: Pick<GuardedClient, 'request'>,
  clock: Clock,
): VerifyEntraHint {
  const fetchText = createGuardedFetch(client)
  async function fetchJson(url: string): Promise<unknown> {
    const response = await fetchText(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
    })
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
    return response.json()
  }
  async function readKeys(issuer: string): Promise<JSONWebKeySet> {
    const document = metadataSchema.parse(
      await fetchJson(`${issuer}/.well-known/openid-configuration`),
    )
    if (document.issuer !== issuer) throw new Error('the metadata names another issuer')
    return keysSchema.parse(await fetchJson(document.jwks_uri))
  }
  const known = shareReading(readKeys, { clock, freshMs: KEYS_FRESH_MS, keysMax: AUTHORITIES_MAX })
  const anew = shareReading(readKeys, { clock, freshMs: KEYS_REREAD_MS, keysMax: AUTHORITIES_MAX })
  return async (hint, expected) => {
    if (hint.length > HINT_LENGTH_MAX) throw new EntraHintError('hint_signature')
    const issuer = `${expected.authority}/${expected.tenantId}/v2.0`
    const verify = async (keys: JSONWebKeySet) =>
      jwtVerify(hint, createLocalJWKSet(keys), {
        issuer,
        audience: expected.appId,
        algorithms: ['RS256'],
        // Deliberately expired: judged by its age.
        currentDate: new Date(0),
        clockTolerance: clock.now().getTime() / SECOND_MS + SKEW_SECONDS,
      })
    try {
      const { payload } = await verify(await keysFrom(known, issuer)).catch(
        async (error: unknown) => {
          if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
          return verify(await keysFrom(anew, issuer))
        },
      )
      return readClaims(payload, expected, clock.now())
    } catch (error) {
      throw error instanceof EntraHintError ? error : toHintError(error)
    }
  }
}

async function keysFrom(
  read: (issuer: string) => Promise<JSONWebKeySet>,
  issuer: string,
): Promise<JSONWebKeySet> {
  return read(issuer).catch((cause: unknown) => {
    throw new EntraHintError('hint_keys', { given: issuer, cause })
  })
}

/** The claims that `jwtVerify` compares, once the signature holds. */
const COMPARED_CLAIMS: Readonly<Record<string, RefusedField>> = {
  iss: 'hint_tenant',
  aud: 'hint_audience',
}

function toHintError(cause: unknown): EntraHintError {
  if (!(cause instanceof errors.JWTClaimValidationFailed)) {
    return new EntraHintError('hint_signature', { cause })
  }
  const { claim, payload } = cause
  const given = payload[claim]
  return new EntraHintError(COMPARED_CLAIMS[claim] ?? 'hint_claim', {
    given: typeof given === 'string' ? given : claim,
    cause,
  })
}

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.string() })
const keysSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(100) })

function readClaims(payload: JWTPayload, { tenantId }: ExpectedHint, now: Date): EntraPerson {
  const read = claimsSchema.safeParse(payload)
  if (!read.success) {
    throw new EntraHintError('hint_claim', { given: String(read.error.issues[0]?.path[0]) })
  }
  const claims = read.data
  if (claims.tid !== tenantId) throw new EntraHintError('hint_tenant', { given: claims.tid })
  const ageSeconds = now.getTime() / SECOND_MS - claims.iat
  if (ageSeconds > AGE_MAX_SECONDS || ageSeconds < -SKEW_SECONDS) {
    const given = new Date(claims.iat * SECOND_MS).toISOString()
    throw new EntraHintError('hint_time', { given })
  }
  return {
    subject: claims.sub,
    tenantId,
    objectId: claims.oid,
    username: claims.preferred_username,
  }
}
