import type { Stream } from '../../signals/streams/stream-store.ts'
import type { Answer } from '../../platform/http/operation.ts'

/** 204; 200 for streams whose receiver takes no other success. */
export function successWithoutBody({ usesLegacyStatusCodes }: Stream): Answer {
  return { status: usesLegacyStatusCodes ? 200 : 204 }
}
