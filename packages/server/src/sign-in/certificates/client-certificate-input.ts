/*
 * The certificate of a browser, as the proxy tells it that has verified it: nobody else is believed. Proxies write it
 * in several ways; what is none of them, or tells several certificates, is none.
 */
import { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createAddressList } from '../../platform/net/address-list.ts'
import type { CertificateHeader } from '../../schema/tables/sign-in-tables.ts'

/** A certificate that a browser has the key of. */
export interface ClientCertificate {
  /** Hexadecimal, lower case, as osquery tells it. */
  readonly sha1: string
  readonly sha256: string
  readonly subject: string
  readonly notAfter: Date
}

/** Why there is none: none was sent, or one that is no certificate of a device now. */
export type NoCertificate = 'missing' | 'invalid'

const HEADER_LENGTH_MAX = 12_000
const SUBJECT_LENGTH_MAX = 200
/** What Caddy and Apache write where there is no certificate. */
const NOTHING = /^(?:\{[\w.]+\}|\(null\))?$/
const BASE64 = /^[A-Za-z0-9+/]{100,}={0,2}$/

/**
 * Reads the certificate of a request.
 *
 * @param peerAddress of whoever sent the request to the service: the proxy itself
 */
export function readClientCertificate(
  request: { readonly headers: IncomingHttpHeaders; readonly peerAddress: string },
  { name, proxies }: CertificateHeader,
  at: Date,
): ClientCertificate | NoCertificate {
  if (!createAddressList(proxies)(request.peerAddress)) return 'missing'
  const header = request.headers[name.toLowerCase()]
  if (typeof header !== 'string' || NOTHING.test(header.trim())) return 'missing'
  const der = header.length > HEADER_LENGTH_MAX ? undefined : toDer(header.trim())
  return der === undefined ? 'invalid' : toCertificate(der, at)
}

/** One of an authority stands on every device; one that is over proves nothing. */
function toCertificate(der: Buffer, at: Date): ClientCertificate | 'invalid' {
  const certificate = parse(der)
  if (certificate === undefined || certificate.ca) return 'invalid'
  const notAfter = new Date(certificate.validTo)
  if (!(new Date(certificate.validFrom) <= at && notAfter > at)) return 'invalid'
  const subject = certificate.subject.replaceAll('\n', ', ').slice(0, SUBJECT_LENGTH_MAX)
  return {
    sha1: toHex(certificate.fingerprint),
    sha256: toHex(certificate.fingerprint256),
    subject,
    notAfter,
  }
}

function parse(der: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der)
    // What follows the certificate would be left out silently.
    return certificate.raw.length === der.length ? certificate : undefined
  } catch {
    return undefined
  }
}

/**
 * PEM that is percent-encoded (nginx, Traefik without its frame), Base64 of DER (Caddy, HAProxy), the same as a byte
 * sequence (RFC 9440 section 2.1), or a member of Envoy's X-Forwarded-Client-Cert.
 */
function toDer(header: string): Buffer | undefined {
  const text = header.includes('=') && /(?:^|;)Cert=/i.test(header) ? ofEnvoy(header) : header
  const decoded = text === undefined ? undefined : decode(text)
  if (decoded === undefined) return undefined
  const base64 = decoded
    .replace(/^-----BEGIN CERTIFICATE-----|-----END CERTIFICATE-----\s*$/g, '')
    .replace(/^:|:$/g, '')
    .replace(/\s/g, '')
  return BASE64.test(base64) ? Buffer.from(base64, 'base64') : undefined
}

/** Of one client: where there are several, one of them wrote the others. */
function ofEnvoy(header: string): string | undefined {
  const outside = header.replace(/"[^"]*"/g, '')
  const [certificate, ...others] = [...header.matchAll(/(?:^|;)Cert="([^"]*)"/gi)]
  return outside.includes(',') || others.length > 0 ? undefined : certificate?.[1]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function toHex(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase()
}
