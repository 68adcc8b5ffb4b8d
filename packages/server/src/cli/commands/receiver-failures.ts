import { TransmitterError } from '@heliograph/receiver'
import { AppError } from '../../platform/app-error.ts'
import { ConfigError } from '../../app/config/load-config.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'

/**
 * Tells the receiver's own failures as the command line tells failures: what cannot be used as a
 * wrong command line, what a transmitter refuses as refused, what cannot be reached as unavailable.
 */
export async function explainReceiverFailures(work: () => Promise<void>): Promise<void> {
  try {
    await explainSystemErrors(work)
  } catch (error) {
    if (error instanceof TypeError) throw new ConfigError([error.message])
    if (!(error instanceof TransmitterError)) throw error
    throw toAppError(error)
  }
}

function toAppError(error: TransmitterError): AppError {
  const text = describe(error)
  switch (error.code) {
    case 'unauthorized':
      return new AppError('unauthenticated', text)
    case 'forbidden':
    case 'conflict':
    case 'refused':
      return new AppError('conflict', text)
    case 'not_found':
      return new AppError('not_found', text)
    case 'rate_limited':
      return new AppError('rate_limited', text)
    case 'network':
    case 'timeout':
    case 'aborted':
    case 'unavailable':
    case 'bad_response':
      return new AppError('unavailable', text)
  }
}

/** What the transmitter said, and what a failed request says only in the cause of its cause. */
function describe(error: TransmitterError): string {
  const texts: string[] = []
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    if (next.message !== '' && next.message !== 'fetch failed') texts.push(next.message)
  }
  for (const text of [error.error, error.description]) {
    if (text !== undefined) texts.push(printable(text))
  }
  return `${texts.join(': ').replace(/\.$/, '')}.`
}

/** Text from outside must not move the cursor of a terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
}
