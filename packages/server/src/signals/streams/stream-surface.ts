/*
 * What the operations on a stream need of the surface that has them. Types only; the operations are in
 * stream-endpoints.ts.
 */
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { toOrigin } from '../../changes/to-origin.ts'
import type { AppError, ErrorDetail } from '../../platform/app-error.ts'
import type {
  Answer,
  Method,
  OperationExample,
  ResponseSchemas,
} from '../../platform/http/operation.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ConfigurationRules } from './configuration-change.ts'
import type { StreamInput } from './stream-input.ts'
import type { Stream } from './stream-store.ts'

/** What can be done with a stream on every surface. */
export type StreamUse =
  | 'update'
  | 'replace'
  | 'delete'
  | 'showStatus'
  | 'setStatus'
  | 'verify'
  | 'showHealth'
  | 'selfTest'
  | 'showSelfTest'
  | 'showState'
  | 'replay'

/** A request by a known caller; its body is as the surface reads it, undefined where none is declared. */
export type StreamRequest = Parameters<typeof toOrigin>[0] & {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Where a surface has an operation, and how its document describes it. */
export interface StreamPlace {
  readonly path: `/${string}`
  readonly summary: string
  /** Whether the session of an admin opens it only shortly after a step-up. */
  readonly stepUp?: true
  readonly description?: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly example?: OperationExample
  /** Where they differ from those of the operation. */
  readonly responses?: ResponseSchemas
}

/** What an operation does. */
export interface StreamAction<Request> {
  readonly method: Method
  readonly responses: ResponseSchemas
  readonly handler: (request: Request) => Promise<Answer>
}

export type StreamOperation<Request> = StreamPlace &
  StreamAction<Request> & { readonly use: StreamUse }

interface FindStreamOptions {
  readonly isLocked?: boolean
  /** Whether the receiver is heard of by it; true by default. */
  readonly isSignOfLife?: boolean
}

/** How a surface has streams. */
export interface StreamSurface<Request extends StreamRequest, Declared> {
  readonly places: Readonly<Record<StreamUse, StreamPlace>>
  /** Who changes a status by it: receivers are not told of what they do themselves. */
  readonly initiator: 'transmitter' | 'receiver'
  /** A receiver may ask for a verification this often. */
  readonly minVerificationIntervalSeconds: number
  /** A stream as it is shown. */
  readonly streamSchema: z.ZodType
  readonly toStreamJson: (stream: Stream) => object
  /** The answer of what has nothing to answer. */
  readonly toSuccess: (stream: Stream) => Answer
  /**
   * The stream that a request names in its path, its body or its query, if the caller may see it.
   *
   * @throws AppError `not_found`
   */
  readonly findStream: (
    db: Kysely<Schema>,
    request: Request,
    options?: FindStreamOptions,
  ) => Promise<Stream>
  readonly toConfigurationRules: (
    before: Stream,
    request: Request,
  ) => Omit<ConfigurationRules, 'method'>
  /** What a change of a configuration asks for beyond the members of the standard. */
  readonly readExtensions: (
    request: Request,
    method: 'PATCH' | 'PUT',
  ) => Pick<StreamInput, 'name' | 'choices'>
  /** The refusal of a body. */
  readonly refuse: (issues: readonly ErrorDetail[]) => AppError
  readonly declare: (operation: StreamOperation<Request>) => Declared
}
