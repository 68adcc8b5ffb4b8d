// Poll delivery messages (RFC 8936): request and response, read leniently and written strictly.
import { describeFault } from './describe-fault.ts'
import { z } from 'zod'
import { parseWithSchema, type ParseResult } from './parse-result.ts'

/** What a receiver reports about a SET it did not accept; the code may be unregistered. */
export interface ReportedSetError {
  readonly err: string
  readonly description?: string
}

/** A poll request. RFC 8936 section 2.2. */
export interface PollRequest {
  /** At most this many SETs; 0 only acknowledges; absent leaves it to the transmitter. */
  readonly maxEvents?: number
  /** Absent means false, a long poll; kept apart because some clients never send it. */
  readonly returnImmediately?: boolean
  readonly ack: readonly string[]
  readonly setErrs: ReadonlyMap<string, ReportedSetError>
  /** How long the client wants to wait, in seconds; an extension that some clients send. */
  readonly timeoutSecs?: number
}

/** A poll response on the wire; `moreAvailable` is there only when true. RFC 8936 section 2.3. */
export interface PollResponse {
  readonly sets: Readonly<Record<string, string>>
  readonly moreAvailable?: true
}

/** How much a poll request may carry. */
export interface PollRequestLimits {
  /** Most entries of `ack` and `setErrs` together. */
  readonly acknowledgementsMax: number
}

/** As much of an id as a fault names. */
const NAMED_KEY_MAX = 64

const jtiSchema = z.string().min(1).max(1024)

/** Reads an object keyed by `jti` as a map, so that every id is an ordinary key. */
function mapByJti<T>(valueSchema: z.ZodType<T>) {
  return z
    .custom<object>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be an object',
    )
    .transform((value, context): ReadonlyMap<string, T> => {
      const byJti = new Map<string, T>()
      for (const [key, item] of Object.entries(value)) {
        const jti = jtiSchema.safeParse(key, { error: describeFault })
        const parsed = valueSchema.safeParse(item, { error: describeFault })
        if (jti.success && parsed.success) byJti.set(jti.data, parsed.data)
        for (const { path, message } of [
          ...(jti.error?.issues ?? []),
          ...(parsed.error?.issues ?? []),
        ]) {
          context.addIssue({
            code: 'custom',
            path: [key.slice(0, NAMED_KEY_MAX), ...path],
            message,
          })
        }
      }
      return byJti
    })
}

const reportedErrorSchema = z
  .looseObject({
    err: z.string().min(1).max(128),
    description: z.string().nullish(),
  })
  .transform(({ err, description }): ReportedSetError =>
    typeof description === 'string' ? { err, description: description.slice(0, 1024) } : { err },
  )

const countSchema = z.number().int().min(0)

const pollRequestSchema = z
  .object({
    maxEvents: countSchema.nullish(),
    max_events: countSchema.nullish(),
    returnImmediately: z.boolean().nullish(),
    ack: z.array(jtiSchema).nullish(),
    setErrs: mapByJti(reportedErrorSchema).nullish(),
    timeoutSecs: z.number().min(0).nullish(),
  })
  .transform((body): PollRequest => {
    const maxEvents = body.maxEvents ?? body.max_events ?? undefined
    return {
      ...(maxEvents === undefined ? {} : { maxEvents }),
      ...(typeof body.returnImmediately === 'boolean'
        ? { returnImmediately: body.returnImmediately }
        : {}),
      ack: [...new Set(body.ack)],
      setErrs: body.setErrs ?? new Map<string, ReportedSetError>(),
      ...(typeof body.timeoutSecs === 'number' ? { timeoutSecs: body.timeoutSecs } : {}),
    }
  })

/**
 * Parses the body of a poll request. `{}` is a valid poll; `max_events` is read as `maxEvents`;
 * null members count as absent and unknown ones are ignored, as clients in the field need it;
 * repeated `ack` entries count once. RFC 8936 section 2.2.
 */
export function parsePollRequest(
  body: unknown,
  { acknowledgementsMax }: PollRequestLimits,
): ParseResult<PollRequest> {
  const parsed = parseWithSchema<PollRequest>(pollRequestSchema, body)
  if (!parsed.ok) return parsed
  if (parsed.value.ack.length + parsed.value.setErrs.size > acknowledgementsMax) {
    const message = `at most ${acknowledgementsMax} ids in ack and setErrs together`
    return { ok: false, issues: [{ path: 'ack', message }] }
  }
  return parsed
}

/** Builds a poll response; `moreAvailable` is left out when false. RFC 8936 section 2.3. */
export function buildPollResponse(
  sets: Iterable<readonly [jti: string, token: string]>,
  isMoreAvailable: boolean,
): PollResponse {
  const response = { sets: Object.fromEntries(sets) }
  return isMoreAvailable ? { ...response, moreAvailable: true } : response
}

/** A poll response as a client reads it, in the order in which the SETs came. */
export interface ReceivedPollResponse {
  readonly sets: ReadonlyMap<string, string>
  /** The ids of entries that are not text, and so no SETs; what is no id either is left out. */
  readonly malformed: readonly string[]
  readonly isMoreAvailable: boolean
}

/** Reads the entries that are text; the others keep nothing back. */
const receivedSetsSchema = z
  .custom<object>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .transform((value) => {
    const sets = new Map<string, string>()
    const malformed: string[] = []
    for (const [key, item] of Object.entries(value)) {
      const jti = jtiSchema.safeParse(key)
      if (!jti.success) continue
      if (typeof item === 'string') sets.set(jti.data, item)
      else malformed.push(jti.data)
    }
    return { sets, malformed }
  })

const pollResponseSchema = z
  .object({
    sets: receivedSetsSchema.nullish(),
    moreAvailable: z.boolean().nullish(),
  })
  .transform(({ sets, moreAvailable }): ReceivedPollResponse => ({
    sets: sets?.sets ?? new Map<string, string>(),
    malformed: sets?.malformed ?? [],
    isMoreAvailable: moreAvailable ?? false,
  }))

/**
 * Parses a poll response; missing `sets` are read as none, and an entry that is no SET does not make
 * the others unreadable. RFC 8936 section 2.3.
 *
 * Numeric ids come first whatever their place in the answer, because JSON objects are read so.
 */
export function parsePollResponse(body: unknown): ParseResult<ReceivedPollResponse> {
  return parseWithSchema<ReceivedPollResponse>(pollResponseSchema, body)
}
