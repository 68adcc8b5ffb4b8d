/*
 * Issues X.509 v3 certificates (RFC 5280) with EC P-256 keys: an authority that signs itself, and server
 * certificates signed by it. Pure apart from key and serial numbers; files and renewal are
 * `self-signed-tls.ts`'s. Own code on @peculiar/x509, because mkcert and selfsigned take no keys, no times or no
 * key identifiers (docs/adr/0008-libraries.md).
 */
// The certificate library needs the metadata that this import provides, so it comes first.
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509'
import { createPublicKey, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'

/** Both ends are inclusive; fractions of a second are dropped. */
export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A certificate (PEM) and the private key that belongs to it. */
export interface CertificateWithKey {
  readonly certificate: string
  readonly key: KeyObject
}

const RSA_SHA256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const
const EC_P256 = { name: 'ECDSA', namedCurve: 'P-256' } as const

/** The upper bound of a common name (RFC 5280 appendix A.1). */
const COMMON_NAME_LENGTH_MAX = 64

/** A self-signed authority certificate (PEM) that may sign server certificates but no further authorities. */
export async function issueAuthorityCertificate(
  commonName: string,
  key: KeyObject,
  validity: Validity,
): Promise<string> {
  const publicKey = toPublicKey(createPublicKey(key))
  const name = distinguishedName(commonName)
  const extensions = [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    await SubjectKeyIdentifierExtension.create(publicKey),
  ]
  return signCertificate({ issuer: name, subject: name, publicKey, validity, extensions }, key)
}

/**
 * A server certificate (PEM) for host names and IP addresses, signed by the authority. All names are subject
 * alternative names (RFC 6125); the first one is the common name too, for those who read it.
 */
export async function issueServerCertificate(
  authority: CertificateWithKey,
  subjectKey: KeyObject,
  names: readonly string[],
  validity: Validity,
): Promise<string> {
  const issuer = new X509Certificate(authority.certificate)
  const publicKey = toPublicKey(subjectKey)
  const extensions = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(
      names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
    ),
    await SubjectKeyIdentifierExtension.create(publicKey),
    await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
  ]
  const subject = distinguishedName((names[0] ?? 'server').slice(0, COMMON_NAME_LENGTH_MAX))
  return signCertificate(
    { issuer: issuer.subjectName, subject, publicKey, validity, extensions },
    authority.key,
  )
}

/** A certificate (PEM) that an RSA key signs for itself, for those who read keys from certificates. */
export async function issueSigningCertificate(
  commonName: string,
  key: KeyObject,
  validity: Validity,
): Promise<string> {
  const publicKey = toPublicKey(createPublicKey(key))
  const name = distinguishedName(commonName.slice(0, COMMON_NAME_LENGTH_MAX))
  const extensions = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    await SubjectKeyIdentifierExtension.create(publicKey),
  ]
  return signCertificate({ issuer: name, subject: name, publicKey, validity, extensions }, key)
}

interface CertificateContents {
  readonly issuer: Name
  readonly subject: Name
  readonly publicKey: PublicKey
  readonly validity: Validity
  readonly extensions: Extension[]
}

/** The library adds a random serial number (RFC 5280 section 4.1.2.2). */
async function signCertificate(
  { issuer, subject, publicKey, validity, extensions }: CertificateContents,
  signingKey: KeyObject,
): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    issuer,
    subject,
    publicKey,
    ...validity,
    extensions,
    signingKey: signingKey.toCryptoKey(
      signingKey.asymmetricKeyType === 'rsa' ? RSA_SHA256 : EC_P256,
      false,
      ['sign'],
    ),
  })
  return `${certificate.toString('pem')}\n`
}

function toPublicKey(key: KeyObject): PublicKey {
  return new PublicKey(key.export({ type: 'spki', format: 'der' }))
}

function distinguishedName(commonName: string): Name {
  return new Name([{ CN: [commonName] }])
}
