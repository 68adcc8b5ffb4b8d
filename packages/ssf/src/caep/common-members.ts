import { z } from 'zod'

/** BCP 47 language tag to text; at least one entry. */
export type LocalizedText = Readonly<Record<string, string>>

const LANGUAGE_TAG = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/

const localizedTextSchema = z
  .record(z.string().regex(LANGUAGE_TAG, 'must be a language tag'), z.string())
  .refine((texts) => Object.keys(texts).length > 0, 'needs at least one language')

/**
 * Reads a reason. Some transmitters send bare text, as a draft of the Interoperability Profile
 * asked for; it is read as text of undetermined language (`und`).
 */
const reasonSchema = z.union([
  localizedTextSchema,
  z
    .string()
    .min(1)
    .transform((text): LocalizedText => ({ und: text })),
])

/** Who caused the event. CAEP 1.0 section 2. */
export const INITIATING_ENTITIES = ['admin', 'user', 'policy', 'system'] as const

/** Who caused the event. CAEP 1.0 section 2. */
export type InitiatingEntity = (typeof INITIATING_ENTITIES)[number]

/** The members that every CAEP event may carry. CAEP 1.0 section 2. */
export interface CaepCommonMembers {
  /** When the thing itself changed, in seconds since the epoch. */
  readonly event_timestamp?: number
  readonly initiating_entity?: InitiatingEntity
  /** Why, for administrators. */
  readonly reason_admin?: LocalizedText
  /** Why, for the person concerned. */
  readonly reason_user?: LocalizedText
}

const COMMON_SHAPE = {
  event_timestamp: z.number().nonnegative().exactOptional(),
  initiating_entity: z.enum(INITIATING_ENTITIES).exactOptional(),
  reason_admin: reasonSchema.exactOptional(),
  reason_user: reasonSchema.exactOptional(),
} as const

/**
 * The schema of a payload that may carry these members beside the common ones; unknown members are kept. An optional
 * member that is null counts as absent: many libraries write so what has no value.
 */
export function caepPayload<Members extends z.ZodRawShape>(members: Members) {
  const shape = { ...COMMON_SHAPE, ...members }
  const optional = new Set(
    Object.entries(shape).flatMap(([name, schema]) =>
      schema instanceof z.ZodExactOptional ? [name] : [],
    ),
  )
  return z.preprocess((payload) => withoutNulls(payload, optional), z.looseObject(shape))
}

function withoutNulls(payload: unknown, optional: ReadonlySet<string>): unknown {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return payload
  return Object.fromEntries(
    Object.entries(payload).filter(([name, value]) => value !== null || !optional.has(name)),
  )
}
