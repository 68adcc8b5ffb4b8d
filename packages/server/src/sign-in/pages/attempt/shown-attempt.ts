import type { AttemptView } from '../../attempts/attempt-view.ts'
import type { KeyRequest } from '../../browser-keys/browser-key-input.ts'
import type { Language } from '../texts/language.ts'

/** A sign-in, for whom and when it is shown. */
export interface ShownAttempt {
  readonly view: AttemptView
  readonly language: Language
  readonly now: Date
  /** Whether the reader has asked the page to stay. */
  readonly isStaying: boolean
  /** What the browser is asked for of its key; only where its device is proven. */
  readonly keyRequest?: KeyRequest | undefined
}
