/*
 * Reads rows that are short and of ASCII alone, which nearly all are, before the driver does: their text is decoded
 * once for each row and not for each field, which for a page of records is most of what reading it costs. A text that
 * is kept keeps the text of its row. Owns no other message and no other row: those the driver gets as they came.
 */
import { EventEmitter } from 'node:events'
import type { Connection } from 'pg'

/** A row, as the driver tells of it. */
export interface DataRow {
  readonly name: 'dataRow'
  /** Of the message, without its kind. */
  readonly length: number
  readonly fieldCount: number
  readonly fields: readonly (string | null)[]
}

/** A connection as the driver has it; its types know an older form. */
interface Wire {
  attachListeners(stream: EventEmitter): void
  emit(event: 'dataRow', row: DataRow): void
}

/** Has a connection that is not open yet read short rows so. */
export function readShortRows(connection: Connection): void {
  const wire = connection as unknown as Wire
  const attachListeners = wire.attachListeners.bind(wire)
  wire.attachListeners = (stream) => {
    const others = new EventEmitter()
    const cutter = new RowCutter({
      onRow: (row) => wire.emit('dataRow', row),
      onOthers: (bytes) => others.emit('data', bytes),
    })
    attachListeners(others)
    stream.on('data', (bytes: Buffer) => cutter.take(bytes))
    stream.on('end', () => others.emit('end'))
  }
}

/** What a message begins with: its kind, one byte, and its length without that, four. */
const HEADER_BYTES = 5
const DATA_ROW = 'D'.charCodeAt(0)
/** A longer row is decoded field by field as quickly, and its texts would be kept for each of them. */
const ROW_BYTES_MAX = 2_048

interface CutterOptions {
  readonly onRow: (row: DataRow) => void
  /** Hears all other bytes, in their order among the rows. */
  readonly onOthers: (bytes: Buffer) => void
}

/** Cuts short rows out of what a server sends, in whatever parts it arrives. */
export class RowCutter {
  readonly #options: CutterOptions
  /** The beginning of a header whose rest has not arrived. */
  #held: Buffer | undefined
  /** How many bytes are missing of a message that is not cut out. */
  #missing = 0

  constructor(options: CutterOptions) {
    this.#options = options
  }

  take(part: Buffer): void {
    const bytes = this.#held === undefined ? part : Buffer.concat([this.#held, part])
    this.#held = undefined
    let othersStart = 0
    let offset = Math.min(this.#missing, bytes.length)
    this.#missing -= offset
    while (offset + HEADER_BYTES <= bytes.length) {
      const end = offset + 1 + bytes.readUInt32BE(offset + 1)
      const row = end <= bytes.length ? readRow(bytes, offset, end) : undefined
      if (row !== undefined) {
        this.#pass(bytes, othersStart, offset)
        othersStart = end
        this.#options.onRow(row)
      }
      this.#missing = Math.max(0, end - bytes.length)
      offset = Math.min(end, bytes.length)
    }
    this.#pass(bytes, othersStart, offset)
    if (offset < bytes.length) this.#held = bytes.subarray(offset)
  }

  #pass(bytes: Buffer, start: number, end: number): void {
    if (start < end) this.#options.onOthers(bytes.subarray(start, end))
  }
}

/** The row that a message is; undefined for one that is none, is long, or has other letters than those of ASCII. */
function readRow(bytes: Buffer, start: number, end: number): DataRow | undefined {
  if (bytes[start] !== DATA_ROW || end - start > ROW_BYTES_MAX) return undefined
  const fieldCount = bytes.readInt16BE(start + HEADER_BYTES)
  const fields = new Array<string | null>(fieldCount)
  const text = bytes.toString('latin1', start, end)
  let offset = start + HEADER_BYTES + 2
  let allBits = 0
  for (let index = 0; index < fieldCount; index += 1) {
    const length = bytes.readInt32BE(offset)
    offset += 4
    if (length < 0) {
      fields[index] = null
      continue
    }
    const fieldEnd = offset + length
    fields[index] = text.slice(offset - start, fieldEnd - start)
    for (; offset < fieldEnd; offset += 1) allBits |= bytes[offset] ?? 0
  }
  if (allBits > ASCII_MAX) return undefined
  return { name: 'dataRow', length: end - start - 1, fieldCount, fields }
}

const ASCII_MAX = 0x7f
