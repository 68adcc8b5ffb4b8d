/** Which certificate authorities outbound TLS trusts: those of Node and the operator's own. */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * The TLS context of outbound connections: TLS 1.2 or newer, the default roots and every certificate of
 * `extraCaPem` (`HELIOGRAPH_EXTRA_CA`, a PEM bundle). Throws an `Error` with public words when the bundle holds
 * no certificate or one that cannot be read.
 */
export function createTrustContext(extraCaPem?: string): SecureContext {
  if (extraCaPem === undefined) return createSecureContext({ minVersion: 'TLSv1.2' })
  const extra = extraCaPem.match(PEM_CERTIFICATE) ?? []
  if (extra.length === 0)
    throw new Error('The bundle of extra certificate authorities holds no PEM certificate')
  for (const [index, pem] of extra.entries()) assertCertificate(pem, index + 1)
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ca: [...getCACertificates('default'), ...extra],
  })
}

function assertCertificate(pem: string, position: number): void {
  try {
    new X509Certificate(pem)
  } catch (error) {
    throw new Error(`Certificate ${position} of the extra certificate authorities cannot be read`, {
      cause: error,
    })
  }
}
