/*
 * Answers to what never becomes a request of the service, because Node.js refuses it before: bytes that are not HTTP,
 * headers that are too long, an expectation that nobody knows. Their body is JSON as that of every refusal. An agent
 * looks at the body alone and takes an empty one for success: it would throw away what it has sent.
 */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../clock.ts'

/** How long a client that is sent away has to take the last bytes. */
const FAREWELL_MS = 2 * SECOND_MS
const JSON_TYPE = 'application/json; charset=utf-8'

const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Bytes that are not HTTP, or none for too long: there is no request to answer, only a socket to close. What
 * the client does then is not waited for: a connection of which one half is closed would stay as long as the
 * client keeps the other half open.
 */
export function answerBrokenRequest(error: Error & { code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const status = STATUS_OF_ERROR[error.code] ?? 400
  const body = toBody(status)
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${JSON_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  socket.destroySoon()
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** Has a server refuse requests with an expectation other than `100-continue` (RFC 9110 section 10.1.1). */
export function answerUnknownExpectations(server: Server): void {
  server.on('checkExpectation', (_request, response: ServerResponse) => refuse(response, 417))
}

/** Whether a request says whom it is for, as RFC 9112 section 3.2 asks of HTTP/1.1; one that does not is answered. */
export function hasHost(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.headers.host !== undefined || request.httpVersion !== '1.1') return true
  refuse(response, 400)
  return false
}

function refuse(response: ServerResponse, status: number): void {
  const body = toBody(status)
  const length = Buffer.byteLength(body)
  response.writeHead(status, {
    'content-type': JSON_TYPE,
    'content-length': length,
    connection: 'close',
  })
  response.end(body)
}

function toBody(status: number): string {
  return JSON.stringify({ error: STATUS_CODES[status] })
}
