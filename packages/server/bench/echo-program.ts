/*
 * The machine's limit for an HTTP answer: a bare node:http server that parses a JSON body and answers
 * JSON of a given size. No framework, no log, no header beyond the necessary.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithParent } from './child-program.ts'

/** What the echo server tells. */
export interface EchoAnswer {
  readonly type: 'listening'
  readonly port: number
}

const FRAME_BYTES = '{"echo":""}'.length
const bodyBytes = Number(process.argv[2] ?? '40')
const answer = { echo: 'x'.repeat(Math.max(0, bodyBytes - FRAME_BYTES)) }

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const body = JSON.stringify(answer)
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  })
})
server.keepAliveTimeout = 60_000

endWithParent()
server.listen(0, '127.0.0.1', () => {
  const message: EchoAnswer = {
    type: 'listening',
    port: (server.address() as AddressInfo).port,
  }
  process.send?.(message)
})
