import { TransmitterError } from '../errors.ts'
import {
  requestTransmitter,
  type TransmitterRequest,
  type TransmitterResponse,
} from '../transmitter-request.ts'
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
  const authorization = await source.getAuthorization(request.signal)
  try {
    return await requestTransmitter(withAuthorization(request, authorization))
  } catch (error) {
    if (!(error instanceof TransmitterError) || error.status !== 401) throw error
    source.discard(authorization)
    const renewed = await source.getAuthorization(request.signal)
    if (renewed === authorization) throw error
    return requestTransmitter(withAuthorization(request, renewed))
  }
}

function withAuthorization(request: TransmitterRequest, authorization: string): TransmitterRequest {
  return { ...request, headers: { ...request.headers, authorization } }
}
