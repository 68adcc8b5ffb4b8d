// The receiver of Shared Signals for every runtime with Web APIs: verify, receive by push, fetch
// by poll. What needs Node.js is in './node.ts' and './cli/index.ts'.
export {
  KeysUnavailableError,
  SetVerificationError,
  StoreChangedError,
  TransmitterError,
} from './errors.ts'
export type { TransmitterErrorCode, TransmitterErrorDetails } from './errors.ts'
export { createLocalKeySource, createRemoteKeySource } from './key-source.ts'
export type { KeyHeader, KeySource, RemoteKeySourceOptions } from './key-source.ts'
export { createSetVerifier, DEFAULT_ALGORITHMS } from './verify-set.ts'
export type { SetVerifier, SetVerifierOptions, VerifiedSet } from './verify-set.ts'
export { createMemoryJtiStore } from './jti-store.ts'
export type { JtiStore } from './jti-store.ts'
export type { EventHandler, EventIntakeOptions, IntakeOutcome } from './event-intake.ts'
export { createPushHandler } from './push-handler.ts'
export type { PushHandler, PushHandlerOptions, RefusedOutcome } from './push-handler.ts'
export { createPollClient } from './poll-client.ts'
export type { PollClient, PollClientOptions, PollOutcome } from './poll-client.ts'
export type { FetchFunction } from './transmitter-request.ts'
export { createDiscoveryCache, discoverTransmitter } from './discovery.ts'
export type { DiscoveryCache, DiscoveryOptions } from './discovery.ts'
export { createClientCredentials } from './authorization/client-credentials.ts'
export type { ClientCredentialsOptions } from './authorization/client-credentials.ts'
export type { ClientAuthentication } from './authorization/client-authentication.ts'
export type { Authorization, AuthorizationSource } from './authorization/authorization-source.ts'
export { createStreamClient } from './stream-client/create-stream-client.ts'
export type { StreamClientOptions } from './stream-client/management-requests.ts'
export type {
  CallOptions,
  StreamClient,
  StreamInput,
  VerifyAndWaitOptions,
} from './stream-client/stream-client.ts'
export { createVerificationWaiter } from './stream-client/verification-waiter.ts'
export type { VerificationWaiter } from './stream-client/verification-waiter.ts'
export { diagnoseSet } from './diagnose-set.ts'
export type {
  DiagnosisCheck,
  DiagnosisOptions,
  DiagnosisResult,
  SetDiagnosis,
} from './diagnose-set.ts'
export { createComplianceState } from './compliance/compliance-state.ts'
export type {
  ApplyOutcome,
  ComplianceState,
  ComplianceStateOptions,
  StateSource,
} from './compliance/compliance-state.ts'
export { toComplianceKey } from './compliance/compliance-entry.ts'
export type { ComplianceChange, ComplianceEntry } from './compliance/compliance-entry.ts'
export { createMemoryComplianceStore } from './compliance/compliance-store.ts'
export { toRevokedSession } from './revoked-session.ts'
export type { RevokedSession } from './revoked-session.ts'
export type { ComplianceChanges, ComplianceStore } from './compliance/compliance-store.ts'
export type { ReconcileReport } from './compliance/reconcile.ts'
export type { SequenceGap, StreamPosition } from './compliance/stream-position.ts'
