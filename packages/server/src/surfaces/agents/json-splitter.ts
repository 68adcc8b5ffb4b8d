/*
 * Cuts a JSON object into its members while its bytes arrive, so that a large message is never held as a
 * whole and is judged before it is parsed. Finds where values begin and end; what they say is for
 * JSON.parse. Own code, because streaming parsers make a value of every token: that costs 30 times as much
 * as looking for the ends, and here most of the bytes come from nobody known.
 */
import { AppError } from '../../platform/app-error.ts'

/** Where a value stands in the message. */
export interface JsonPlace {
  /** The name of the member of the message. */
  readonly member: string
  /** Of a value inside that member: its name there, or undefined in an array. */
  readonly name?: string
  /** Whether the member is cut, and this is one of its values. */
  readonly isPart: boolean
}

export interface JsonSplitterOptions {
  /** The members whose values are told one by one, if they are objects or arrays. */
  readonly cutMembers: ReadonlySet<string>
  /** Longer values are told without their text. */
  readonly valueBytesMax: number
  /** Hears of each value when its end has come; `text` is undefined when it is too long. */
  readonly onValue: (place: JsonPlace, text: string | undefined) => void
}

/** Nothing that an agent sends is nested this deep. */
const DEPTH_MAX = 100
const NAME_BYTES_MAX = 1_024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** What is expected next, outside of values. */
type Expectation =
  'start' | 'first name' | 'name' | 'colon' | 'value' | 'first value' | 'next' | 'end'

/** Reads one message. Its methods throw AppError `malformed_json` for what is no JSON object. */
export class JsonSplitter {
  readonly #options: JsonSplitterOptions
  #expected: Expectation = 'start'
  #valueCount = 0
  /** The member that is being cut; its values are separated by what `#isArray` says. */
  #cutMember: string | undefined
  #isArray = false
  #member = ''
  #name: string | undefined
  /** The value or name that is being read. */
  #reading: 'name' | 'value' | undefined
  #depth = 0
  #isQuoted = false
  #isEscaped = false
  #parts: Buffer[] = []
  #length = 0

  constructor(options: JsonSplitterOptions) {
    this.#options = options
  }

  /** How many values have been told. */
  get valueCount(): number {
    return this.#valueCount
  }

  /** What is held of the value or name that is being read, in bytes. */
  get heldBytes(): number {
    return this.#parts.length === 0 ? 0 : this.#length
  }

  write(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#reading !== undefined) at = this.#readOn(chunk, at)
      else {
        const byte = chunk[at] ?? SPACE
        if (isSpace(byte)) at += 1
        else at = this.#step(byte, at)
      }
    }
  }

  /** Says that everything has been written. */
  end(): void {
    if (this.#expected !== 'end') throw malformed()
  }

  /** Takes a byte between values; answers where reading goes on. */
  #step(byte: number, at: number): number {
    switch (this.#expected) {
      case 'start':
        if (byte !== OPEN_OBJECT) throw malformed('The body must be a JSON object.')
        this.#expected = 'first name'
        return at + 1
      case 'first name':
      case 'name':
        return this.#stepToName(byte, at)
      case 'colon':
        if (byte !== COLON) throw malformed()
        this.#expected = 'value'
        return at + 1
      case 'first value':
      case 'value':
        return this.#stepToValue(byte, at)
      case 'next':
        return this.#stepOn(byte, at)
      case 'end':
        throw malformed()
    }
  }

  #stepToName(byte: number, at: number): number {
    if (byte === CLOSE_OBJECT && this.#expected === 'first name') return this.#close(at)
    if (byte !== QUOTE) throw malformed()
    this.#reading = 'name'
    return at
  }

  #stepToValue(byte: number, at: number): number {
    if (byte === CLOSE_ARRAY && this.#expected === 'first value') return this.#close(at)
    if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) throw malformed()
    const isContainer = byte === OPEN_OBJECT || byte === OPEN_ARRAY
    const isCut = this.#cutMember === undefined && this.#options.cutMembers.has(this.#member)
    if (isCut && isContainer) {
      this.#cutMember = this.#member
      this.#isArray = byte === OPEN_ARRAY
      this.#name = undefined
      this.#expected = this.#isArray ? 'first value' : 'first name'
      return at + 1
    }
    this.#reading = 'value'
    return at
  }

  #stepOn(byte: number, at: number): number {
    if (byte === COMMA) {
      this.#expected = this.#cutMember !== undefined && this.#isArray ? 'value' : 'name'
      return at + 1
    }
    const isArray = this.#cutMember !== undefined && this.#isArray
    if (byte !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) throw malformed()
    return this.#close(at)
  }

  /** The end of the member that is cut, or of the message. */
  #close(at: number): number {
    this.#expected = this.#cutMember === undefined ? 'end' : 'next'
    this.#cutMember = undefined
    return at + 1
  }

  /** Reads on in a value or name; answers where it ends, or the end of the chunk. */
  #readOn(chunk: Buffer, from: number): number {
    const end = this.#findEnd(chunk, from)
    const to = end ?? chunk.length
    const lengthMax = this.#reading === 'name' ? NAME_BYTES_MAX : this.#options.valueBytesMax
    this.#length += to - from
    if (this.#length > lengthMax) this.#parts = []
    else if (end === undefined) this.#parts.push(Buffer.from(chunk.subarray(from, to)))
    if (end === undefined) return to
    if (this.#length > lengthMax) this.#finish(undefined)
    else if (this.#parts.length === 0) this.#finish(chunk.toString('utf8', from, to))
    else this.#finish(Buffer.concat([...this.#parts, chunk.subarray(from, to)]).toString('utf8'))
    return to
  }

  #finish(text: string | undefined): void {
    const reading = this.#reading
    if (this.#parts.length > 0) this.#parts = []
    this.#length = 0
    this.#reading = undefined
    if (reading === 'name') this.#takeName(text)
    else this.#takeValue(text)
  }

  #takeName(text: string | undefined): void {
    const name = text === undefined ? '' : parseName(text)
    if (this.#cutMember === undefined) this.#member = name
    else this.#name = name
    this.#expected = 'colon'
  }

  #takeValue(text: string | undefined): void {
    const isPart = this.#cutMember !== undefined
    const name = isPart ? this.#name : undefined
    this.#expected = 'next'
    this.#valueCount += 1
    this.#options.onValue(
      { member: this.#member, isPart, ...(name === undefined ? {} : { name }) },
      text,
    )
  }

  /** Where what is being read ends; undefined when it goes on after the chunk. */
  #findEnd(chunk: Buffer, from: number): number | undefined {
    let at = from
    while (at < chunk.length) {
      if (this.#isQuoted) {
        const end = this.#passText(chunk, at)
        if (end === undefined || this.#depth === 0) return end
        at = end
      } else {
        const end = this.#passSign(chunk[at] ?? SPACE, at)
        if (end !== undefined) return end
        at += 1
      }
    }
    return undefined
  }

  /** Where a text has ended; undefined when it goes on after the chunk. */
  #passText(chunk: Buffer, from: number): number | undefined {
    let isEscaped = this.#isEscaped
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) {
        this.#isQuoted = false
        this.#isEscaped = false
        return at + 1
      }
    }
    this.#isEscaped = isEscaped
    return undefined
  }

  /** A byte of a value that stands outside of its texts; answers the end of the value if it is there. */
  #passSign(byte: number, at: number): number | undefined {
    if (byte === QUOTE) this.#isQuoted = true
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.#depth += 1
      if (this.#depth > DEPTH_MAX) throw malformed('The body is nested too deep.')
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (this.#depth === 0) return at
      this.#depth -= 1
      if (this.#depth === 0) return at + 1
    } else if (this.#depth === 0 && (byte === COMMA || isSpace(byte))) return at
    return undefined
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** A name that stands for itself between its quotes. */
const PLAIN_NAME = /^"[\w .:/-]*"$/

function parseName(text: string): string {
  if (PLAIN_NAME.test(text)) return text.slice(1, -1)
  try {
    return String(JSON.parse(text))
  } catch (cause) {
    throw malformed(undefined, cause)
  }
}

function malformed(message = 'The body is not valid JSON.', cause?: unknown): AppError {
  return new AppError('malformed_json', message, cause === undefined ? {} : { cause })
}
