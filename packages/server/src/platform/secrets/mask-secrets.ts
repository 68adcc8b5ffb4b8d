/*
 * Takes known secrets out of a text that somebody else wrote, before it is kept or shown: as they are, in
 * base64, in hex and escaped for URLs, JSON or HTML, and also where the text was cut in the middle of one.
 * Owns the forms of a secret; which texts are masked, and what is secret, others decide.
 */
import { matchNeedle, type Needle } from './match-needle.ts'

/** Stands for a secret. */
export const MASKED = '[masked]'

export interface MaskedTextOptions {
  /** The text goes on where it came from: its end may be the beginning of a secret. */
  readonly isCut?: boolean
}

/** Masks the same secrets in any number of texts. */
export interface SecretMask {
  text(text: string, options?: MaskedTextOptions): string
  /** Bytes of any encoding that holds ASCII as it is; what is not masked stays as it was. */
  bytes(bytes: Buffer, options?: MaskedTextOptions): Buffer
}

/** What is shorter cannot be told from other words, and lets nobody in. */
const SECRET_LENGTH_MIN = 4
/** What is shorter is a secret only where it stands alone: it may be part of a longer word. */
const PLAIN_LENGTH_MIN = 8

/** What masks these secrets; those shorter than four characters are left out. */
export function createSecretMask(secrets: Iterable<string>): SecretMask {
  const needles = [...new Set(secrets)].flatMap(toNeedles)
  const starts = startsOf(needles)
  const mask = (text: string, { isCut = false }: MaskedTextOptions = {}): string =>
    needles.length === 0 ? text : maskText(text, isCut, { needles, starts })
  return {
    text: mask,
    bytes: (bytes, options) => {
      const text = bytes.toString('latin1')
      const masked = mask(text, options)
      return masked === text ? bytes : Buffer.from(masked, 'latin1')
    },
  }
}

interface Search {
  readonly needles: readonly Needle[]
  /** By code: whether a needle, or an escaped character, may begin with it; beyond that, anything may. */
  readonly starts: Uint8Array
}

/** About 20 ms. An ordinary text of 16 kB takes a tenth; only one made of beginnings of a secret takes more. */
const STEPS_MAX = 2_000_000

/** A text that cannot be searched within bounds is masked from there on. */
function maskText(text: string, isCut: boolean, { needles, starts }: Search): string {
  const steps = { left: STEPS_MAX }
  let masked = ''
  let keptFrom = 0
  for (let at = 0; at < text.length; at += 1) {
    if (starts[text.charCodeAt(at)] === 0) continue
    let end = at
    for (const needle of needles) {
      end = Math.max(end, matchNeedle(needle, text, { at, isCut, steps }))
    }
    if (steps.left <= 0) return masked + text.slice(keptFrom, at) + MASKED
    if (end === at) continue
    masked += text.slice(keptFrom, at) + MASKED
    keptFrom = end
    at = end - 1
  }
  return masked + text.slice(keptFrom)
}

/** Every escape begins with one of these. */
const ESCAPE_STARTS = ['%', '\\', '&', '+']

function startsOf(needles: readonly Needle[]): Uint8Array {
  const starts = new Uint8Array(0x1_00)
  const first = [...needles.map(({ text }) => text), ...ESCAPE_STARTS]
  for (const text of first) starts[text.charCodeAt(0)] = 1
  return starts
}

function toNeedles(secret: string): Needle[] {
  if (secret.length < SECRET_LENGTH_MIN) return []
  const encodings = isAscii(secret) ? (['latin1'] as const) : (['latin1', 'utf8'] as const)
  const plain = new Set([secret])
  const encoded = new Set<string>()
  for (const encoding of encodings) {
    const bytes = Buffer.from(secret, encoding)
    plain.add(bytes.toString('latin1'))
    for (const offset of [0, 1, 2]) {
      const text = base64Of(bytes, offset)
      encoded.add(text)
      encoded.add(text.replaceAll('+', '-').replaceAll('/', '_'))
    }
    encoded.add(bytes.toString('hex'))
    encoded.add(bytes.toString('hex').toUpperCase())
  }
  const standsAlone = secret.length < PLAIN_LENGTH_MIN
  return [
    ...[...plain].map((text) => ({ text, standsAlone })),
    ...[...encoded]
      .filter(({ length }) => length >= SECRET_LENGTH_MIN)
      .map((text) => ({ text, standsAlone: false })),
  ]
}

/** The base64 of the bytes behind `offset` others, without the digits that depend on what stands beside them. */
function base64Of(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const mixedAtEnd = [0, 3, 2][(offset + bytes.length) % 3] ?? 0
  return text.slice(offset === 0 ? 0 : offset + 1, text.length - mixedAtEnd)
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
