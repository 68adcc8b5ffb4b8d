import type { StreamRow } from '../../signals/streams/stream-store.ts'
import type { StrictAnswer } from './strict-endpoint.ts'

/** 204; 200 for streams whose receiver takes no other success. */
export function successWithoutBody({ uses_legacy_status_codes }: StreamRow): StrictAnswer {
  return { status: uses_legacy_status_codes ? 200 : 204 }
}
