/**
 * Writes ASN.1 values in DER (ITU-T X.690), as far as certificates need them. Reads nothing.
 */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** `tag` is the complete identifier octet. */
export function derValue(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), derLength(content.length), content])
}

export function derSequence(...members: readonly Buffer[]): Buffer {
  return derValue(TAG.sequence, ...members)
}

export function derSet(...members: readonly Buffer[]): Buffer {
  return derValue(TAG.set, ...members)
}

/** A non-negative integer from its big-endian bytes, which may have leading zeros. */
export function derInteger(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0)
  const minimal = start === -1 ? Buffer.from([0]) : bytes.subarray(start)
  const isNegative = (minimal[0] ?? 0) >= 0x80
  return derValue(TAG.integer, isNegative ? Buffer.concat([Buffer.from([0]), minimal]) : minimal)
}

/** DER has one spelling of true only; false is expressed by leaving a DEFAULT FALSE member out. */
export function derTrue(): Buffer {
  return derValue(TAG.boolean, Buffer.from([0xff]))
}

export function derBitString(bytes: Buffer, unusedBits = 0): Buffer {
  return derValue(TAG.bitString, Buffer.from([unusedBits]), bytes)
}

export function derOctetString(bytes: Buffer): Buffer {
  return derValue(TAG.octetString, bytes)
}

export function derUtf8String(text: string): Buffer {
  return derValue(TAG.utf8String, Buffer.from(text))
}

/** `dotted` like `2.5.29.17`. */
export function derObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return derValue(
    TAG.objectIdentifier,
    Buffer.from([first * 40 + second, ...rest.flatMap(toBase128)]),
  )
}

/** Whole seconds; UTCTime until 2049 and GeneralizedTime from 2050 on (RFC 5280 section 4.1.2.5). */
export function derTime(time: Date): Buffer {
  const digits = `${time
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/[-T:]/g, '')}Z`
  return time.getUTCFullYear() < 2050
    ? derValue(TAG.utcTime, Buffer.from(digits.slice(2)))
    : derValue(TAG.generalizedTime, Buffer.from(digits))
}

function derLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function toBase128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f))
  return bytes
}
