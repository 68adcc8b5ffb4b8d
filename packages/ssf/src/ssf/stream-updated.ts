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

/** Validates a stream-updated payload; unknown members are kept. */
export const streamUpdatedSchema = z.looseObject({
  status: z.enum(STREAM_STATUSES),
  reason: z.string().exactOptional(),
})

/** Builds the payload of a stream-updated event; `status` is a plain word. SSF 1.0 section 8.1.5. */
export function buildStreamUpdated(status: StreamStatus, reason?: string): StreamUpdated {
  return reason === undefined ? { status } : { status, reason }
}
