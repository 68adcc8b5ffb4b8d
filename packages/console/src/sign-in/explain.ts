import { ApiError } from '../api/client.ts'
import { texts } from './texts.ts'

/** What the browser says of a ceremony that was cancelled helps nobody. */
export function explain(error: Error | null): Error | null {
  if (error === null || error instanceof ApiError) return error
  return new Error(texts.cancelled)
}
