/*
 * Receives events by push in an Express application and answers whether a device is compliant.
 *
 *   ISSUER=https://transmitter.example.com/ssf AUDIENCE=https://receiver.example.com/events \
 *   PUSH_AUTHORIZATION='Bearer ...' node express-server.ts
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import {
  createComplianceState,
  createPushHandler,
  createSetVerifier,
  discoverTransmitter,
} from '@heliograph/receiver'
import {
  createFileComplianceStore,
  createFileJtiStore,
  toNodeHandler,
} from '@heliograph/receiver/node'

const issuer = required('ISSUER')
const folder = process.env['STATE_FOLDER'] ?? 'receiver-state'
mkdirSync(folder, { recursive: true })

const { jwks_uri: jwksUri } = await discoverTransmitter(issuer)
if (jwksUri === undefined) throw new Error('the transmitter publishes no keys')

const store = await createFileComplianceStore({ path: join(folder, 'compliance.jsonl') })
const seen = await createFileJtiStore({ path: join(folder, 'seen.jsonl') })
const compliance = createComplianceState({
  store,
  onChange: ({ subject, previous, current }) => {
    print({ subject, previous: previous ?? 'unknown', current: current ?? 'unknown' })
  },
})

const push = createPushHandler({
  verifier: createSetVerifier({ issuer, audience: required('AUDIENCE'), keys: { jwksUri } }),
  authorization: required('PUSH_AUTHORIZATION'),
  seen,
  async onEvent(set) {
    await compliance.apply(set)
    print({ event: set.event.type, jti: set.jti })
  },
  onRefused: ({ kind, error }) => {
    print({ refused: kind, because: error instanceof Error ? error.message : 'unknown' })
  },
})

const app = express()
// No body parser before this route: the handler reads and bounds the body itself.
app.all('/events', toNodeHandler(push))
app.get('/devices/:id', async (request, response) => {
  const subject = { format: 'iss_sub', iss: issuer, sub: request.params.id } as const
  const status = await compliance.statusOf(subject)
  response.status(status === undefined ? 404 : 200).json({ status: status ?? 'unknown' })
})

const server = app.listen(Number(process.env['PORT'] ?? 8443), '127.0.0.1', () => {
  const address = server.address()
  print({ listening: typeof address === 'object' ? address?.port : address })
})

process.once('SIGTERM', () => server.close(() => void end()))

async function end(): Promise<void> {
  await compliance.close()
  await Promise.all([seen.close(), store.close()])
}

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`set ${name}`)
  return value
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
