/**
 * Which certificate authorities outbound TLS trusts, those of Node and the operator's own, and with which
 * certificate it shows who it is.
 */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** What a connection shows and trusts beside what all connections do. */
export interface TlsIdentity {
  /** The client certificate, PEM, with what chains it to its root; only together with its key. */
  readonly certificate?: string | undefined
  /** PEM, not encrypted. */
  readonly privateKey?: string | undefined
  /** A PEM bundle that is trusted too. */
  readonly extraCa?: string | undefined
}

/**
 * The TLS context of outbound connections: TLS 1.2 or newer, the default roots and every certificate of
 * `extraCaPem` (`HELIOGRAPH_EXTRA_CA`, a PEM bundle) and of the identity. Throws an `Error` with public words
 * when a bundle holds no certificate or one that cannot be read, or when a client certificate does not fit
 * its key.
 */
export function createTrustContext(extraCaPem?: string, identity: TlsIdentity = {}): SecureContext {
  const { certificate, privateKey, extraCa } = identity
  const extra = [extraCaPem, extraCa].flatMap((bundle) =>
    bundle === undefined ? [] : readCertificates(bundle),
  )
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(extra.length === 0 ? {} : { ca: [...getCACertificates('default'), ...extra] }),
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(privateKey === undefined ? {} : { key: privateKey }),
    })
  } catch (error) {
    throw new Error('The client certificate and its key cannot be used', { cause: error })
  }
}

/** Each certificate of a PEM bundle. Throws as `createTrustContext` does. */
export function readCertificates(bundle: string): string[] {
  const certificates = bundle.match(PEM_CERTIFICATE) ?? []
  if (certificates.length === 0)
    throw new Error('The bundle of extra certificate authorities holds no PEM certificate')
  for (const [index, pem] of certificates.entries()) assertCertificate(pem, index + 1)
  return certificates
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
