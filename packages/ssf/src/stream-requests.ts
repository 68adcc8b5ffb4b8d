// Bodies of the status, subject and verification requests of SSF 1.0 sections 8.1.2 to 8.1.4.
import { z } from 'zod'
import { issuesWithin, parseWithSchema, type ParseResult } from './parse-result.ts'
import { STREAM_STATUSES, type StreamStatus } from './ssf/stream-updated.ts'
import { verificationRequestSchema, type VerificationRequest } from './ssf/verification.ts'
import { parseSubjectIdentifier, type SubjectIdentifier } from './subject-identifier.ts'

const streamIdSchema = z.string().min(1).max(256)

/** Status of a stream, as it is read and written. SSF 1.0 section 8.1.2. */
export interface StreamStatusMessage {
  readonly stream_id: string
  readonly status: StreamStatus
  readonly reason?: string
}

const statusSchema = z
  .object({
    stream_id: streamIdSchema,
    status: z.enum(STREAM_STATUSES),
    reason: z.string().max(2048).nullish(),
  })
  .transform(({ stream_id, status, reason }): StreamStatusMessage =>
    typeof reason === 'string' ? { stream_id, status, reason } : { stream_id, status },
  )

/** Parses a status request or answer; unknown members are dropped. SSF 1.0 section 8.1.2. */
export function parseStreamStatusMessage(body: unknown): ParseResult<StreamStatusMessage> {
  return parseWithSchema<StreamStatusMessage>(statusSchema, body)
}

/** A request to add or remove a subject. SSF 1.0 sections 8.1.3.2 and 8.1.3.3. */
export interface StreamSubjectRequest {
  readonly stream_id: string
  readonly subject: SubjectIdentifier
  /** Whether the receiver has verified the subject; true when absent. Add requests only. */
  readonly verified: boolean
}

const subjectRequestSchema = z.object({
  stream_id: streamIdSchema,
  subject: z.unknown(),
  verified: z.boolean().optional(),
})

/** Parses an add-subject or remove-subject request. SSF 1.0 sections 8.1.3.2 and 8.1.3.3. */
export function parseStreamSubjectRequest(body: unknown): ParseResult<StreamSubjectRequest> {
  const parsed = parseWithSchema(subjectRequestSchema, body)
  if (!parsed.ok) return parsed
  const { stream_id, subject: candidate, verified } = parsed.value
  const subject = parseSubjectIdentifier(candidate)
  if (!subject.ok) return { ok: false, issues: issuesWithin('subject', subject.issues) }
  return { ok: true, value: { stream_id, subject: subject.value, verified: verified ?? true } }
}

/** Parses a verification request; a null `state` counts as absent. SSF 1.0 section 8.1.4.2. */
export function parseVerificationRequest(body: unknown): ParseResult<VerificationRequest> {
  return parseWithSchema<VerificationRequest>(verificationRequestSchema, body)
}
