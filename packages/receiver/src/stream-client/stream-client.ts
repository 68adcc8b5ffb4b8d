import type {
  DeliveryRequest,
  PushDeliveryConfiguration,
  ReceivedStream,
  StreamExtensionMembers,
  StreamReplayAnswer,
  StreamReplayRequest,
  StreamState,
  StreamStatus,
  StreamStatusMessage,
  SubjectIdentifier,
  TransmitterConfiguration,
} from '@heliograph/ssf'
import type { VerifiedSet } from '../verify-set.ts'
import type { VerificationWaiter } from './verification-waiter.ts'

/** What a receiver says about a stream. SSF 1.0 section 8.1.1. */
export interface StreamInput extends StreamExtensionMembers {
  readonly events_requested?: readonly string[]
  /** Left out, the transmitter chooses poll. */
  readonly delivery?: DeliveryRequest | PushDeliveryConfiguration
  readonly description?: string
}

/** What bounds one call. */
export interface CallOptions {
  /** Ends the call; it then fails with the code `aborted`. */
  readonly signal?: AbortSignal
  /** Longest wait for each answer in milliseconds. Default that of the client. */
  readonly timeoutMs?: number
}

/** What bounds the wait for a verification event. */
export interface VerifyAndWaitOptions extends CallOptions {
  /** Sees the events of the stream; its handler must be the one that receives them. */
  readonly verifications: VerificationWaiter
  /** Longest wait for the event in milliseconds. Default 60000. */
  readonly waitMs?: number
}

/**
 * Manages streams at one transmitter. Every method throws TransmitterError when the transmitter
 * refuses or cannot be reached, and TypeError when it is called with what may not be sent.
 */
export interface StreamClient {
  /** The transmitter's discovery document, which is kept while it is fresh. */
  getConfiguration(options?: CallOptions): Promise<TransmitterConfiguration>
  /** SSF 1.0 section 8.1.1.1. Code `conflict` when the transmitter allows no further stream. */
  createStream(input?: StreamInput, options?: CallOptions): Promise<ReceivedStream>
  /** SSF 1.0 section 8.1.1.2. */
  getStream(streamId: string, options?: CallOptions): Promise<ReceivedStream>
  /** All streams of this receiver. SSF 1.0 section 8.1.1.2. */
  listStreams(options?: CallOptions): Promise<readonly ReceivedStream[]>
  /** Changes the members that are given (PATCH). SSF 1.0 section 8.1.1.3. */
  updateStream(
    streamId: string,
    changes: StreamInput,
    options?: CallOptions,
  ): Promise<ReceivedStream>
  /** Replaces all members (PUT): what is left out is deleted. SSF 1.0 section 8.1.1.4. */
  replaceStream(
    streamId: string,
    input: StreamInput,
    options?: CallOptions,
  ): Promise<ReceivedStream>
  /** SSF 1.0 section 8.1.1.5. */
  deleteStream(streamId: string, options?: CallOptions): Promise<void>
  /** SSF 1.0 section 8.1.2.1. */
  getStatus(streamId: string, options?: CallOptions): Promise<StreamStatusMessage>
  /** Answers the status that then holds, which may be the earlier one. SSF 1.0 section 8.1.2.2. */
  setStatus(
    streamId: string,
    status: StreamStatus,
    options?: CallOptions & { readonly reason?: string },
  ): Promise<StreamStatusMessage>
  /** SSF 1.0 section 8.1.3.2. */
  addSubject(
    streamId: string,
    subject: SubjectIdentifier,
    options?: CallOptions & { readonly isVerified?: boolean },
  ): Promise<void>
  /** SSF 1.0 section 8.1.3.3. */
  removeSubject(streamId: string, subject: SubjectIdentifier, options?: CallOptions): Promise<void>
  /**
   * Asks for a verification event; success only says that one will come. SSF 1.0 section 8.1.4.2.
   */
  requestVerification(
    streamId: string,
    options?: CallOptions & {
      readonly state?: string
      /** Further members of the body, which some transmitters ask for. */
      readonly members?: Readonly<Record<string, string>>
    },
  ): Promise<void>
  /**
   * Asks for a verification event with a state of its own and waits until it has been received and
   * verified: proof that events of this stream arrive.
   *
   * @throws TransmitterError `timeout` when it does not come in time.
   * @throws TypeError when `waitMs` is no time; then nothing is sent.
   */
  verifyAndWait(streamId: string, options: VerifyAndWaitOptions): Promise<VerifiedSet>
  /** One page of the current status of all subjects; an extension of Heliograph. */
  readState(
    streamId: string,
    options?: CallOptions & { readonly cursor?: string },
  ): Promise<StreamState>
  /** All pages of the current status of all subjects; an extension of Heliograph. */
  statePages(streamId: string, options?: CallOptions): AsyncIterable<StreamState>
  /** Asks that SETs be sent once more; an extension of Heliograph. */
  replay(
    streamId: string,
    from: StreamReplayRequest,
    options?: CallOptions,
  ): Promise<StreamReplayAnswer>
}
