import type { Stream } from '../../signals/streams/stream-store.ts'
import type { StrictAnswer } from './strict-endpoint.ts'

/** 204; 200 for streams whose receiver takes no other success. */
export function successWithoutBody({ usesLegacyStatusCodes }: Stream): StrictAnswer {
  return { status: usesLegacyStatusCodes ? 200 : 204 }
}
