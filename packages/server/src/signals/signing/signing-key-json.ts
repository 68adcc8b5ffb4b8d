import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import type { ReceiverProof, SigningKeyView } from './signing-key-read.ts'

export const signingKeyStateSchema = z
  .enum(['published', 'active', 'retiring', 'retired'])
  .describe(
    'Published ahead of its use (or used by canaries only), signing, published for what it signed, or not published any more.',
  )

const receiverSchema = z
  .object({
    stream_id: z.string(),
    name: z.string(),
    in_use: z.boolean().describe('Whether the key signs for the stream now.'),
    canary: z.boolean().describe('Whether the stream uses the key before the others do.'),
    rolled_back: z
      .boolean()
      .describe('Whether the stream uses another key because its receiver refused this one.'),
    first_accepted_at: timestampSchema.nullable(),
    last_accepted_at: timestampSchema
      .nullable()
      .describe('When the receiver last took an event that the key signed.'),
    last_refused_at: timestampSchema.nullable(),
    refusal: z.string().nullable().describe('What the receiver said when it refused the key.'),
    jwks_fetched_at: timestampSchema
      .nullable()
      .describe('When the key set was last fetched from the address of the receiver.'),
  })
  .meta({ id: 'SigningKeyReceiver', description: 'What a receiver has made of a signing key.' })

/** A signing key as the REST API shows it; nothing private is in it. */
export const signingKeySchema = z
  .object({
    id: z.string(),
    kid: z.string(),
    state: signingKeyStateSchema,
    algorithm: z.literal('RS256'),
    modulus_bits: z.int(),
    published_at: timestampSchema,
    active_from: timestampSchema.describe('When the key may sign, for canaries at first.'),
    general_from: timestampSchema
      .nullable()
      .describe('When it signs for every stream; null when a canary refused it.'),
    retires_at: timestampSchema.nullable().describe('When its publication ends.'),
    rolled_back_at: timestampSchema.nullable(),
    revoked_at: timestampSchema.nullable(),
    jwks_fetched_at: timestampSchema
      .nullable()
      .describe('When anybody last fetched the key set with the key in it.'),
    receivers: z.array(receiverSchema).describe('Streams, for keys that are published.'),
  })
  .meta({ id: 'SigningKey', description: 'A key that signs event tokens.' })

function toReceiverProofJson(proof: ReceiverProof) {
  return toWire(receiverSchema, proof, {
    name: proof.streamName,
    in_use: proof.isInUse,
    canary: proof.isCanary,
    rolled_back: proof.isRolledBack,
  })
}

export function toSigningKeyJson({ key, ...view }: SigningKeyView) {
  return toWire(
    signingKeySchema,
    { ...key, ...view },
    {
      modulus_bits: Buffer.from(key.publicJwk['n'] ?? '', 'base64url').length * 8,
      published_at: toTimestamp(key.createdAt),
      retires_at: toTimestamp(key.retiredAt),
      receivers: view.receivers.map(toReceiverProofJson),
    },
  )
}
