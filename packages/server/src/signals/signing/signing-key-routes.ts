import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import { getStream, parseStreamReference } from '../streams/stream-store.ts'
import { RSA_MODULUS_BITS } from '../../platform/secrets/generate-signing-key.ts'
import {
  revokeSigningKey,
  rollBackSigningKey,
  rotateSigningKey,
  type ReplacedKey,
} from './change-signing-key.ts'
import { signingKeySchema, toSigningKeyJson } from './signing-key-json.ts'
import { listSigningKeyViews, viewKeys } from './signing-key-read.ts'
import type { SigningKeyRecord } from './signing-key-store.ts'
import type { SigningKeyDependencies } from './signing-keys.ts'

export interface SigningKeyRouteDependencies
  extends SigningKeyDependencies, Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  /** Has this process read the keys again; the others hear of it through the database. */
  readonly onKeysChanged: () => void
}

const CANARIES_MAX = 100
const CANARY_HOURS_MAX = 720

const rotateBody = z
  .strictObject({
    canary_stream_ids: z
      .array(z.string().min(1).max(64))
      .max(CANARIES_MAX)
      .optional()
      .describe('Streams that use the new key before the others; their `id` or `stream_id`.'),
    canary_hours: z
      .int()
      .min(1)
      .max(CANARY_HOURS_MAX)
      .optional()
      .describe('How long only they use it; 24 when left out.'),
    modulus_bits: z
      .union(RSA_MODULUS_BITS.map((bits) => z.literal(bits)))
      .optional()
      .describe('The size of the new key; as the service is set when left out.'),
  })
  .optional()

const outcomeSchema = z.object({ key: signingKeySchema, active_key: signingKeySchema }).meta({
  id: 'SigningKeyOutcome',
  description: 'The key in question, and the one that signs now.',
})

/** The operations on signing keys. */
export function signingKeyRoutes(dependencies: SigningKeyRouteDependencies): ApiRoute[] {
  const { db, clock } = dependencies
  return [
    listRoute({
      ...STREAM_ACCESS,
      path: '/ssf_signing_keys',
      summary: 'List signing keys',
      description: 'With what each receiver has made of them. Oldest first.',
      item: signingKeySchema,
      fetch: ({ window }) => listSigningKeyViews(db, window, clock.now()),
      toJson: toSigningKeyJson,
    }),
    rotateRoute(dependencies),
    rollbackRoute(dependencies),
    revokeRoute(dependencies),
  ]
}

function rotateRoute(dependencies: SigningKeyRouteDependencies): ApiRoute {
  const { runChange, modulusBits } = dependencies
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_signing_keys/rotate',
    stepUp: true,
    summary: 'Rotate the signing key',
    description:
      'Publishes a new key that signs after the time ahead, for its canaries first. The old one stays published.',
    body: rotateBody,
    responses: { 200: signingKeySchema },
    example: { body: {} },
    handler: async ({ change, body }) => {
      const { canary_stream_ids: ids = [], canary_hours: hours, modulus_bits } = body ?? {}
      const key = await rotateSigningKey(
        change,
        { ...dependencies, modulusBits: modulus_bits ?? modulusBits },
        {
          canaryDestinationIds: await findDestinations(change, ids),
          ...(hours === undefined ? {} : { canaryMs: hours * HOUR_MS }),
        },
      )
      change.afterCommit(dependencies.onKeysChanged)
      return toJson(change, key)
    },
  })
}

function rollbackRoute({ runChange, onKeysChanged }: SigningKeyRouteDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_signing_keys/rollback',
    stepUp: true,
    summary: 'Take the last rotation of the signing key back',
    description:
      'The key before signs again at once, for every stream, also what waits. The new key stays published.',
    responses: { 200: outcomeSchema },
    handler: async ({ change }) => {
      const replaced = await rollBackSigningKey(change)
      change.afterCommit(onKeysChanged)
      return toReplacedJson(change, replaced)
    },
  })
}

function revokeRoute(dependencies: SigningKeyRouteDependencies): ApiRoute {
  const { runChange, onKeysChanged } = dependencies
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_signing_keys/:kid/revoke',
    stepUp: true,
    summary: 'Revoke a compromised signing key',
    description:
      'The key is not published any more, a new one signs at once, and what waits is signed again.',
    responses: { 200: outcomeSchema },
    handler: async ({ change, params }) => {
      const replaced = await revokeSigningKey(change, params.kid, dependencies)
      change.afterCommit(onKeysChanged)
      return toReplacedJson(change, replaced)
    },
  })
}

async function findDestinations(change: Change, ids: readonly string[]): Promise<DestinationId[]> {
  const destinations = new Set<DestinationId>()
  for (const id of ids)
    destinations.add((await getStream(change.tx, parseStreamReference(id))).destinationId)
  return [...destinations]
}

async function toJson(change: Change, key: SigningKeyRecord) {
  const [view] = await viewKeys(change.tx, [key], change.at)
  if (view === undefined) throw new Error('a key that was changed has a view')
  return toSigningKeyJson(view)
}

async function toReplacedJson(change: Change, { key, active }: ReplacedKey) {
  return { key: await toJson(change, key), active_key: await toJson(change, active) }
}
