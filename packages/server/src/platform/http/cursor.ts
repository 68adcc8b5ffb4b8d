import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { invalidCursor } from '../app-error.ts'

/** What a cursor carries, so that it alone continues a list. */
export interface CursorContents {
  /** The concrete path of the list, parent ids included. */
  readonly list: string
  /** The text of the `query` parameter; empty for none. */
  readonly query: string
  readonly perPage: number
  /** The key of the last record of the page before. */
  readonly lastKey: string
}

/** A query of 4 KiB makes a cursor of 6 KiB. */
export const CURSOR_LENGTH_MAX = 8_192

const VERSION = 1
const SIGNATURE_BYTES = 16
const payloadSchema = z.tuple([
  z.literal(VERSION),
  z.string(),
  z.string(),
  z.int().min(1).max(100),
  z.string().max(200),
])

/** Writes the cursor for a page. It can be read by everyone and made by nobody without the key. */
export function encodeCursor(contents: CursorContents, key: Buffer): string {
  const { list, query, perPage, lastKey } = contents
  const payload = Buffer.from(JSON.stringify([VERSION, list, query, perPage, lastKey]))
  return Buffer.concat([sign(payload, key), payload]).toString('base64url')
}

/**
 * The contents of a cursor of this service.
 *
 * @throws AppError `invalid_cursor` for a text that this service did not issue under this key.
 */
export function decodeCursor(cursor: string, key: Buffer): CursorContents {
  const bytes = Buffer.from(cursor, 'base64url')
  const payload = bytes.subarray(SIGNATURE_BYTES)
  const signature = bytes.subarray(0, SIGNATURE_BYTES)
  // One text per cursor: the decoder skips what is not base64url, so the text is compared too.
  const isGenuine =
    cursor.length <= CURSOR_LENGTH_MAX &&
    payload.length > 0 &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(signature, sign(payload, key))
  if (!isGenuine) throw invalidCursor('The cursor was not issued by this service.')
  const [, list, query, perPage, lastKey] = payloadSchema.parse(JSON.parse(payload.toString()))
  return { list, query, perPage, lastKey }
}

function sign(payload: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(payload).digest().subarray(0, SIGNATURE_BYTES)
}
