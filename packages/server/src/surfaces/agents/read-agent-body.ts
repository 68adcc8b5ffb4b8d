/*
 * The bytes of an agent's body: read whole where messages are small, told as they arrive where they may be
 * large. Owns compression and what bytes become; what the bytes say, and who may send how many, is decided
 * by its callers.
 */
import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../platform/app-error.ts'
import { findBodyReadAhead } from '../../platform/http/direct-routes.ts'

/** Some bytes of a body, decompressed; 64 KiB at most. */
export interface BodyChunk {
  readonly chunk: Buffer
  /** How many bytes of the request they and all before them have come from. */
  readonly sentBytes: number
}

/**
 * The body of a request as it arrives, decompressed when it is gzip. Nothing is read ahead of the caller;
 * when the caller leaves early, the rest flows away unread, so that the answer can be received.
 *
 * Rejects with AppError `malformed_json` (no gzip, or cut off) or `unsupported_media_type` (another
 * encoding).
 */
export function readBodyChunks(request: IncomingMessage): AsyncGenerator<BodyChunk, void> {
  return isGzip(request) ? readGzip(request) : readPlain(request)
}

/**
 * The whole body of a request, decompressed when it is gzip. `bytesMax` bounds what arrives and, on
 * its own, what it becomes; reading stops as soon as either is exceeded.
 *
 * Rejects like {@link readBodyChunks}, and with AppError `body_too_large`.
 */
export async function readAgentBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  const body = findBodyReadAhead(request)
  if (body !== undefined) return body
  if (!isGzip(request)) return readWhole(request, bytesMax)
  const chunks: Buffer[] = []
  let length = 0
  for await (const { chunk, sentBytes } of readGzip(request)) {
    length += chunk.length
    if (Math.max(length, sentBytes) > bytesMax) throw bodyTooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The refusal of a body that is larger than allowed. */
export function bodyTooLarge(bytesMax: number): AppError {
  return new AppError('body_too_large', `The body is larger than ${bytesMax} bytes.`)
}

function isGzip({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding']?.toLowerCase()
  if (encoding === undefined || encoding === 'identity') return false
  if (encoding === 'gzip') return true
  throw new AppError(
    'unsupported_media_type',
    'The only content encoding that is accepted is gzip.',
  )
}

/** Without iterators: most requests of a fleet are small and plain, and pass here. */
function readWhole(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) {
        request.removeAllListeners('data')
        request.resume()
        reject(bodyTooLarge(bytesMax))
      } else if (first === undefined) first = chunk
      else (more ??= [first]).push(chunk)
    })
    request.on('end', () => resolve(more === undefined ? (first ?? EMPTY) : Buffer.concat(more)))
    request.on('error', (cause) => reject(endedEarly(cause)))
  })
}

const EMPTY = Buffer.alloc(0)

/** Large enough that bytes cost more than chunks, and small enough to stop in time. */
const CHUNK_BYTES = 64 * 1024

async function* readPlain(request: IncomingMessage): AsyncGenerator<BodyChunk, void> {
  let sentBytes = 0
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false })) {
      const whole = piece as Buffer
      for (let start = 0; start < whole.length; start += CHUNK_BYTES) {
        const chunk = whole.subarray(start, start + CHUNK_BYTES)
        sentBytes += chunk.length
        yield { chunk, sentBytes }
      }
    }
  } catch (cause) {
    throw endedEarly(cause)
  } finally {
    request.resume()
  }
}

async function* readGzip(request: IncomingMessage): AsyncGenerator<BodyChunk, void> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  request.on('error', (cause) => gunzip.destroy(endedEarly(cause)))
  request.pipe(gunzip)
  try {
    for await (const chunk of gunzip) {
      yield { chunk: chunk as Buffer, sentBytes: gunzip.bytesWritten }
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('malformed_json', 'The body is not gzip.', { cause })
  } finally {
    request.unpipe(gunzip)
    gunzip.destroy()
    request.resume()
  }
}

function endedEarly(cause: unknown): AppError {
  return new AppError('malformed_json', 'The request ended early.', { cause })
}
