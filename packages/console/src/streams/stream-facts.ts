import type { Stream } from '../api/generated/types.gen.ts'

/** Whether a stream asks for changes of devices. */
export function requestsChanges({ events_requested: types }: Stream): boolean {
  return types.some((type) => !type.endsWith('/event-type/verification'))
}
