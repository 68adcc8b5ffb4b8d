import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../platform/app-error.ts'

/**
 * The whole body of a request, decompressed when it is gzip. `bytesMax` bounds what arrives and, on
 * its own, what it becomes; reading stops as soon as either is exceeded.
 *
 * Rejects with AppError `body_too_large`, `malformed_json` (no gzip, or cut off) or
 * `unsupported_media_type` (another encoding).
 */
export async function readAgentBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  if (encoding === undefined || encoding === 'identity') return readPlain(request, bytesMax)
  if (encoding.toLowerCase() === 'gzip') return readGzip(request, bytesMax)
  throw new AppError(
    'unsupported_media_type',
    'The only content encoding that is accepted is gzip.',
  )
}

function readPlain(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let more: Buffer[] | undefined
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) {
        stopReading(request)
        reject(tooLarge(bytesMax))
      } else if (first === undefined) first = chunk
      else (more ??= [first]).push(chunk)
    })
    request.on('end', () => resolve(more === undefined ? (first ?? EMPTY) : Buffer.concat(more)))
    rejectWhenCutOff(request, reject)
  })
}

function readGzip(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const gunzip = createGunzip()
    const chunks: Buffer[] = []
    let sentLength = 0
    let length = 0
    const fail = (error: AppError) => {
      stopReading(request)
      gunzip.destroy()
      reject(error)
    }
    request.on('data', (chunk: Buffer) => {
      sentLength += chunk.length
      if (sentLength > bytesMax) fail(tooLarge(bytesMax))
      else if (!gunzip.destroyed && !gunzip.write(chunk)) request.pause()
    })
    request.on('end', () => gunzip.end())
    rejectWhenCutOff(request, fail)
    gunzip.on('drain', () => request.resume())
    gunzip.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > bytesMax) fail(tooLarge(bytesMax))
      else chunks.push(chunk)
    })
    gunzip.on('end', () => resolve(Buffer.concat(chunks)))
    gunzip.on('error', (cause) =>
      fail(new AppError('malformed_json', 'The body is not gzip.', { cause })),
    )
  })
}

const EMPTY = Buffer.alloc(0)

/** Lets the rest of the body flow away unread, so that the answer can be received. */
function stopReading(request: IncomingMessage): void {
  request.removeAllListeners('data')
  request.resume()
}

function rejectWhenCutOff(request: IncomingMessage, reject: (error: AppError) => void): void {
  request.on('error', (cause) =>
    reject(new AppError('malformed_json', 'The request ended early.', { cause })),
  )
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('body_too_large', `The body is larger than ${bytesMax} bytes.`)
}
