import {
  describeIssues,
  parseTransmitterConfiguration,
  wellKnownConfigurationUrl,
  type TransmitterConfiguration,
} from '@heliograph/ssf'
import { TransmitterError } from './errors.ts'
import { requestTransmitter, requireSecureUrl, type FetchFunction } from './transmitter-request.ts'

/** How the discovery document is fetched. */
export interface DiscoveryOptions {
  /** Default 10 seconds. */
  readonly timeoutMs?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
}

const DOCUMENT_BYTES_MAX = 256 * 1024

/**
 * Fetches the discovery document of an issuer and checks that it speaks for that issuer. SSF 1.0
 * sections 7.2.1 and 7.2.4.
 *
 * @throws TransmitterError when it cannot be had; code `bad_response` when it is malformed or names
 *   another issuer.
 */
export async function discoverTransmitter(
  issuer: string,
  options: DiscoveryOptions = {},
): Promise<TransmitterConfiguration> {
  const { json } = await requestTransmitter({
    method: 'GET',
    url: requireSecureUrl(wellKnownConfigurationUrl(issuer), options.isHttpAllowed ?? false),
    headers: { accept: 'application/json' },
    timeoutMs: options.timeoutMs ?? 10_000,
    responseBytesMax: DOCUMENT_BYTES_MAX,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  })
  const parsed = parseTransmitterConfiguration(json)
  if (!parsed.ok) throw new TransmitterError('bad_response', describeIssues(parsed.issues))
  if (parsed.value.issuer !== issuer) {
    throw new TransmitterError('bad_response', 'the discovery document names another issuer')
  }
  return parsed.value
}
