import type { StreamRowId } from '../../schema/branded-ids.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { PushAuthenticationFacts } from '../../schema/tables/ssf-stream-tables.ts'
import type { OutboundTls } from '../../platform/net/origin-pools.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import {
  findPushCredential,
  pushSecretContext,
  type PushCredentialRecord,
} from './push-credential-store.ts'

/** What is needed to get access tokens for a receiver. */
export interface OAuthCredential {
  /** Names the credential in its present version without revealing it. */
  readonly key: string
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly scope: string | null
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'
  /** To be tried in this order; none with `private_key_jwt`. */
  readonly secrets: readonly string[]
  readonly tls: OutboundTls | undefined
}

/** How the service authenticates to a receiver, beside a fixed header. */
export interface PushCredential {
  readonly oauth: OAuthCredential | undefined
  readonly tls: OutboundTls | undefined
}

/** Opens the credentials of a stream; undefined when it has none any more. */
export async function openPushCredential(
  db: Kysely<Schema>,
  sealer: Sealer,
  stream: { readonly streamRowId: StreamRowId; readonly authentication: PushAuthenticationFacts },
  now: Date,
): Promise<PushCredential | undefined> {
  const row = await findPushCredential(db, stream.streamRowId)
  if (row === undefined) return undefined
  const key = `stream ${row.streamRowId} version ${row.version}`
  const tls = toTls(row, key, sealer)
  const { oauth } = stream.authentication
  if (oauth === undefined) return { oauth: undefined, tls }
  return {
    tls,
    oauth: {
      key,
      tokenEndpoint: oauth.token_endpoint,
      clientId: oauth.client_id,
      scope: oauth.scope,
      method: oauth.auth_method,
      secrets: openSecrets(row, sealer, now),
      tls,
    },
  }
}

function openSecrets(row: PushCredentialRecord, sealer: Sealer, now: Date): string[] {
  const context = pushSecretContext(row.streamRowId, 'oauth_client_secret_sealed')
  const { oauthClientSecretSealed: present, oauthPreviousSecretSealed: previous } = row
  const isOverlapping = row.oauthPreviousSecretUntil !== null && row.oauthPreviousSecretUntil > now
  return [present, isOverlapping ? previous : null].flatMap((sealed) =>
    sealed === null ? [] : [sealer.openText(sealed, context)],
  )
}

function toTls(row: PushCredentialRecord, key: string, sealer: Sealer): OutboundTls | undefined {
  const { clientCertificate: certificate, clientKeySealed: sealed, extraCa } = row
  if (certificate === null && extraCa === null) return undefined
  const context = pushSecretContext(row.streamRowId, 'client_key_sealed')
  return {
    key,
    ...(certificate === null || sealed === null
      ? {}
      : { certificate, privateKey: sealer.openText(sealed, context) }),
    ...(extraCa === null ? {} : { extraCa }),
  }
}
