import type { JsonPlace } from './json-splitter.ts'

/** Takes the values of a message while they arrive, and holds what it needs of them. */
export interface MessageCollector {
  /** What is held, in bytes. */
  readonly heldBytes: number
  /** `text` is undefined for a value that is too long. */
  take(place: JsonPlace, text: string | undefined): void
}
