import { TransmitterError } from '../errors.ts'
import {
  requestTransmitter,
  type TransmitterRequest,
  type TransmitterResponse,
} from '../transmitter-request.ts'
import { untilAborted } from '../until-aborted.ts'
import type { AuthorizationSource } from './authorization-source.ts'

/**
 * Sends a request with the credential of a source. An answer of 401 discards the credential, and
 * the request is sent once more when the source has another one.
 *
 * @throws TransmitterError for every failure.
 */
export async function requestAuthorized(
  request: TransmitterRequest,
  source: AuthorizationSource | undefined,
): Promise<TransmitterResponse> {
  if (source === undefined) return requestTransmitter(request)
  const authorization = await getAuthorization(source, request)
  try {
    return await requestTransmitter(withAuthorization(request, authorization))
  } catch (error) {
    if (!(error instanceof TransmitterError) || error.status !== 401) throw error
    source.discard(authorization)
    const renewed = await getAuthorization(source, request)
    if (renewed === authorization) throw error
    return requestTransmitter(withAuthorization(request, renewed))
  }
}

/** A function of the application may never answer: it is waited for no longer than a transmitter. */
function getAuthorization(
  source: AuthorizationSource,
  { signal, timeoutMs }: TransmitterRequest,
): Promise<string> {
  return untilAborted(source.getAuthorization(signal), signal, timeoutMs)
}

function withAuthorization(request: TransmitterRequest, authorization: string): TransmitterRequest {
  return { ...request, headers: { ...request.headers, authorization } }
}
