/**
 * Issues X.509 v3 certificates (RFC 5280) with EC P-256 keys: an authority that signs itself, and server
 * certificates signed by it. Pure apart from the signature; files and renewal are `self-signed-tls.ts`'s.
 */
import {
  createHash,
  createPublicKey,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import {
  derBitString,
  derInteger,
  derObjectIdentifier,
  derOctetString,
  derSequence,
  derSet,
  derTime,
  derTrue,
  derUtf8String,
  derValue,
} from './der.ts'

/** Both ends are inclusive; fractions of a second are dropped. */
export interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A certificate and the private key that belongs to it, both PEM. */
export interface CertificateWithKey {
  readonly certificate: string
  readonly key: KeyObject
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const

/** An uncompressed P-256 point: 0x04, x, y; it ends the DER form of the public key. */
const P256_POINT_BYTES = 65

const COMMON_NAME_LENGTH_MAX = 64

/** A self-signed authority certificate (PEM) that may sign server certificates but no further authorities. */
export function issueAuthorityCertificate(
  commonName: string,
  key: KeyObject,
  validity: Validity,
): string {
  const publicKey = createPublicKey(key)
  const name = distinguishedName(commonName)
  const extensions = [
    criticalExtension(OID.basicConstraints, derSequence(derTrue(), derInteger(Buffer.from([0])))),
    // keyCertSign and cRLSign: bits 5 and 6 of RFC 5280 section 4.2.1.3.
    criticalExtension(OID.keyUsage, derBitString(Buffer.from([0b0000_0110]), 1)),
    extension(OID.subjectKeyIdentifier, derOctetString(keyIdentifier(publicKey))),
  ]
  return signCertificate({ issuer: name, subject: name, publicKey, validity, extensions }, key)
}

/**
 * A server certificate (PEM) for host names and IP addresses, signed by the authority. All names are subject
 * alternative names (RFC 6125); the first one is the common name too, for those who read it.
 */
export function issueServerCertificate(
  authority: CertificateWithKey,
  publicKey: KeyObject,
  names: readonly string[],
  validity: Validity,
): string {
  const issuer = new X509Certificate(authority.certificate)
  const extensions = [
    criticalExtension(OID.basicConstraints, derSequence()),
    // digitalSignature: bit 0 of RFC 5280 section 4.2.1.3.
    criticalExtension(OID.keyUsage, derBitString(Buffer.from([0b1000_0000]), 7)),
    extension(OID.extendedKeyUsage, derSequence(derObjectIdentifier(OID.serverAuth))),
    extension(OID.subjectAlternativeName, derSequence(...names.map(generalName))),
    extension(OID.subjectKeyIdentifier, derOctetString(keyIdentifier(publicKey))),
    extension(
      OID.authorityKeyIdentifier,
      derSequence(derValue(0x80, keyIdentifier(issuer.publicKey))),
    ),
  ]
  const contents = {
    issuer: distinguishedName(commonNameOf(issuer)),
    subject: distinguishedName((names[0] ?? 'server').slice(0, COMMON_NAME_LENGTH_MAX)),
    publicKey,
    validity,
    extensions,
  }
  return signCertificate(contents, authority.key)
}

interface CertificateContents {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly validity: Validity
  readonly extensions: readonly Buffer[]
}

function signCertificate(contents: CertificateContents, signingKey: KeyObject): string {
  const algorithm = derSequence(derObjectIdentifier(OID.ecdsaWithSha256))
  const toBeSigned = derSequence(
    derValue(0xa0, derInteger(Buffer.from([2]))), // version 3
    derInteger(serialNumber()),
    algorithm,
    contents.issuer,
    derSequence(derTime(contents.validity.notBefore), derTime(contents.validity.notAfter)),
    contents.subject,
    contents.publicKey.export({ type: 'spki', format: 'der' }),
    derValue(0xa3, derSequence(...contents.extensions)),
  )
  const signature = sign('sha256', toBeSigned, signingKey)
  return toPem(derSequence(toBeSigned, algorithm, derBitString(signature)))
}

/** 127 random bits: positive, unpredictable, at most 20 octets (RFC 5280 section 4.1.2.2). */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

function distinguishedName(commonName: string): Buffer {
  const attribute = derSequence(derObjectIdentifier(OID.commonName), derUtf8String(commonName))
  return derSequence(derSet(attribute))
}

/** The common name of a certificate that `issueAuthorityCertificate` made, which has no other attribute. */
function commonNameOf(certificate: X509Certificate): string {
  return certificate.subject.replace(/^CN=/, '')
}

/** Method 1 of RFC 5280 section 4.2.1.2; SHA-1 is an identifier here, not a protection. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-P256_POINT_BYTES)
  return createHash('sha1').update(point).digest()
}

function extension(oid: string, value: Buffer): Buffer {
  return derSequence(derObjectIdentifier(oid), derOctetString(value))
}

function criticalExtension(oid: string, value: Buffer): Buffer {
  return derSequence(derObjectIdentifier(oid), derTrue(), derOctetString(value))
}

/** dNSName or iPAddress of RFC 5280 section 4.2.1.6. */
function generalName(name: string): Buffer {
  if (isIP(name) === 0) return derValue(0x82, Buffer.from(name, 'ascii'))
  return derValue(0x87, isIPv4(name) ? Buffer.from(name.split('.').map(Number)) : ipv6Bytes(name))
}

function ipv6Bytes(address: string): Buffer {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = new Array<string>(8 - before.length - after.length).fill('0')
  return Buffer.from(
    [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  )
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
