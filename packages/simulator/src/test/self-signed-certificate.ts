/** A certificate for 127.0.0.1 that is made when a test needs it, in plain DER (RFC 5280). */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const length =
    content.length < 128
      ? Buffer.from([content.length])
      : Buffer.from([0x82, content.length >> 8, content.length & 255])
  return Buffer.concat([Buffer.from([tag]), length, content])
}

const sequence = (...contents: Buffer[]): Buffer => der(0x30, ...contents)
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const utcTime = (date: Date): Buffer => {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const NAME = sequence(
  der(0x31, sequence(identifier('550403'), der(0x0c, Buffer.from('Test authority')))),
)
const SUBJECT_ALT_NAME = sequence(
  identifier('551d11'),
  der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))),
)
const BASIC_CONSTRAINTS = sequence(
  identifier('551d13'),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
)

/** A self-signed certificate and its key, both PEM. */
export function createSelfSignedCertificate(): { certificate: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const dayMs = 86_400_000
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)])
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(utcTime(new Date(Date.now() - dayMs)), utcTime(new Date(Date.now() + dayMs))),
    NAME,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(SUBJECT_ALT_NAME, BASIC_CONSTRAINTS)),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const whole = sequence(toBeSigned, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
