/* Certificates of browsers, as devices have them, for tests. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { DAY_MS } from '../../src/platform/clock.ts'
import {
  issueAuthorityCertificate,
  issueSigningCertificate,
} from '../../src/platform/tls/issue-certificate.ts'

export interface TestCertificate {
  readonly pem: string
  readonly keyPem: string
  /** Base64 of DER. */
  readonly base64: string
  /** As osquery tells it. */
  readonly sha1: string
}

/** One that is good for a day before and after a time; one of an authority where that is asked for. */
export async function issueClientCertificate(
  name: string,
  at: Date,
  isAuthority = false,
): Promise<TestCertificate> {
  const validity = {
    notBefore: new Date(at.getTime() - DAY_MS),
    notAfter: new Date(at.getTime() + DAY_MS),
  }
  const issue = isAuthority ? issueAuthorityCertificate : issueSigningCertificate
  const key = isAuthority
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    : generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const pem = await issue(name, key, validity)
  const { raw, fingerprint } = new X509Certificate(pem)
  const sha1 = fingerprint.replaceAll(':', '').toLowerCase()
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { pem, keyPem, base64: raw.toString('base64'), sha1 }
}
