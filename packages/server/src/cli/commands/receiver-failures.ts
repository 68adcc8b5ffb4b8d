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
  const text = `${error.message.replace(/\.$/, '')}.`
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
