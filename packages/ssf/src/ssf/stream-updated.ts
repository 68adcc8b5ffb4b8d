import { z } from 'zod'

/** The three states of a stream. SSF 1.0 section 8.1.2.1. */
export const STREAM_STATUSES = ['enabled', 'paused', 'disabled'] as const

/** One of the three states of a stream. SSF 1.0 section 8.1.2.1. */
export type StreamStatus = (typeof STREAM_STATUSES)[number]

/** Payload of a stream-updated event. SSF 1.0 section 8.1.5. */
export interface StreamUpdated {
  readonly status: StreamStatus
  readonly reason?: string
}

/** The status; some transmitters send an object that holds the word beside others. */
const statusSchema = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && 'status' in value ? value.status : value,
  z.enum(STREAM_STATUSES),
)

/**
 * Validates a stream-updated payload; unknown members are kept. A status inside an object is read as its word, a null
 * `reason` as none, as transmitters in the field send them.
 */
export const streamUpdatedSchema = z
  .looseObject({ status: statusSchema, reason: z.string().nullish() })
  .transform(({ reason, ...members }) =>
    typeof reason === 'string' ? { ...members, reason } : members,
  )

/** Builds the payload of a stream-updated event; `status` is a plain word. SSF 1.0 section 8.1.5. */
export function buildStreamUpdated(status: StreamStatus, reason?: string): StreamUpdated {
  return reason === undefined ? { status } : { status, reason }
}
