// An extension of SSF: the current compliance of every subject of a stream, for receivers that join
// late, lost their memory, or want to know whether they missed an event. CAEP tells changes only.
import { z } from 'zod'
import { COMPLIANCE_STATUSES, type ComplianceStatus } from '../caep/device-compliance-change.ts'
import { parseWithSchema, type ParseResult } from '../parse-result.ts'
import { parseSubjectIdentifier, type SubjectIdentifier } from '../subject-identifier.ts'
import { streamSequenceSchema } from './stream-sequence.ts'

/** Most subjects in one page. */
export const STREAM_STATE_PAGE_SUBJECTS_MAX = 1_000

/** Seconds since the epoch. */
const timeSchema = z.number().nonnegative()

/** Validates one entry of {@link streamStateSchema}. */
export const streamSubjectStateSchema = z.looseObject({
  /** The subject, exactly as the SETs of this stream name it. */
  sub_id: z.looseObject({ format: z.string() }),
  status: z.enum(COMPLIANCE_STATUSES),
  /** When the status began, in seconds since the epoch: `event_timestamp` of the event that told it. */
  event_timestamp: timeSchema,
  /** The SET of this stream that told the status; null when none did. */
  jti: z.string().min(1).max(1024).nullable(),
  /** The number of that SET; null when it has none. */
  sequence: streamSequenceSchema.nullable(),
})

/**
 * Validates the answer to `GET {configuration_endpoint}/{stream_id}/state?cursor=`: one page of the
 * current status of all subjects of the stream.
 *
 * A page tells each of its subjects as it is when the page is read. `as_of_sequence` is the highest
 * number such that this SET and all before it are taken into account, 0 before the first; over
 * several pages the lowest holds for the whole, and later SETs may be taken into account too.
 * Subjects that no longer exist are left out. `next_cursor` is null on the last page.
 */
export const streamStateSchema = z.looseObject({
  as_of_sequence: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
  /** When the page was read, in seconds since the epoch. */
  as_of: timeSchema,
  subjects: z.array(streamSubjectStateSchema).max(STREAM_STATE_PAGE_SUBJECTS_MAX),
  next_cursor: z.string().min(1).max(4096).nullable(),
})

/** The current status of one subject of a stream. See {@link streamSubjectStateSchema}. */
export interface StreamSubjectState {
  readonly sub_id: SubjectIdentifier
  readonly status: ComplianceStatus
  /** When the status began, in seconds since the epoch. */
  readonly event_timestamp: number
  readonly jti: string | null
  readonly sequence: number | null
}

/** One page of the current status of all subjects of a stream. See {@link streamStateSchema}. */
export interface StreamState {
  readonly as_of_sequence: number
  /** In seconds since the epoch. */
  readonly as_of: number
  readonly subjects: readonly StreamSubjectState[]
  readonly next_cursor: string | null
}

/** Parses a page of the state of a stream, its subject identifiers included. */
export function parseStreamState(body: unknown): ParseResult<StreamState> {
  const parsed = parseWithSchema(streamStateSchema, body)
  if (!parsed.ok) return parsed
  const subjects: StreamSubjectState[] = []
  for (const [index, entry] of parsed.value.subjects.entries()) {
    const subject = parseSubjectIdentifier(entry.sub_id)
    if (!subject.ok) {
      return {
        ok: false,
        issues: subject.issues.map(({ path, message }) => ({
          path: ['subjects', index, 'sub_id', ...(path === '' ? [] : [path])].join('.'),
          message,
        })),
      }
    }
    const { status, event_timestamp, jti, sequence } = entry
    subjects.push({ sub_id: subject.value, status, event_timestamp, jti, sequence })
  }
  const { as_of_sequence, as_of, next_cursor } = parsed.value
  return { ok: true, value: { as_of_sequence, as_of, subjects, next_cursor } }
}

/**
 * The URL of the state of a stream.
 *
 * @param configurationEndpoint `configuration_endpoint` of the discovery document.
 */
export function streamStateUrl(configurationEndpoint: string, streamId: string): string {
  return streamExtensionUrl(configurationEndpoint, streamId, 'state')
}

/**
 * The URL of the replay of a stream.
 *
 * @param configurationEndpoint `configuration_endpoint` of the discovery document.
 */
export function streamReplayUrl(configurationEndpoint: string, streamId: string): string {
  return streamExtensionUrl(configurationEndpoint, streamId, 'replay')
}

function streamExtensionUrl(endpoint: string, streamId: string, name: string): string {
  return `${endpoint.replace(/\/$/, '')}/${encodeURIComponent(streamId)}/${name}`
}
