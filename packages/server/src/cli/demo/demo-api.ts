/*
 * The demo as a client of the service's own REST API. Reads only the members that it shows.
 */
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
} from '@heliograph/ssf'
import type { FetchFunction } from '@heliograph/receiver'
import { z } from 'zod'
import { DemoError } from './demo-error.ts'

const deviceSchema = z.object({
  id: z.string(),
  name: z.string(),
  auth_state: z.enum(['Good', 'Notified', 'Will Block', 'Blocked']),
})

const streamSchema = z.object({
  id: z.string(),
  name: z.string(),
  stream_id: z.string(),
  iss: z.string(),
  aud: z.string(),
})

export type ApiDevice = z.output<typeof deviceSchema>
export type ApiStream = z.output<typeof streamSchema>

/** A stream that the demo wants. */
export interface WantedStream {
  readonly name: string
  /** Where to push to; without it the stream is polled. */
  readonly push?: { readonly endpointUrl: string; readonly authorization: string }
}

/** The requests that the demo makes; each throws DemoError when it fails. */
export interface DemoApi {
  listDevices(): Promise<ApiDevice[]>
  listStreams(): Promise<ApiStream[]>
  createStream(wanted: WantedStream): Promise<ApiStream>
  deleteStream(id: string): Promise<void>
  /** Requests made so far, to stay well below the limit of the key. */
  readonly requestCount: number
}

const API_VERSION = '2026-04-07'
const TIMEOUT_MS = 30_000
const PAGES_MAX = 50
const PER_PAGE = '100'

/** Creates a client of the service at `baseUrl` with an API key. */
export function createDemoApi(baseUrl: string, key: string, fetchFunction: FetchFunction): DemoApi {
  let requestCount = 0

  async function send(method: string, path: string, body?: unknown): Promise<unknown> {
    requestCount += 1
    const response = await fetchFunction(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-api-version': API_VERSION,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new DemoError(`${method} ${path} failed: ${describe(error)}`)
    })
    const text = await response.text()
    if (response.ok) return text === '' ? undefined : JSON.parse(text)
    throw new DemoError(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
  }

  async function listAll<Item>(path: string, schema: z.ZodType<Item>): Promise<Item[]> {
    const page = z.object({
      data: z.array(schema),
      pagination: z.object({ next_cursor: z.string() }),
    })
    const items: Item[] = []
    let cursor = ''
    for (let count = 0; count < PAGES_MAX; count += 1) {
      const parameters = new URLSearchParams({ per_page: PER_PAGE })
      if (cursor !== '') parameters.set('cursor', cursor)
      const { data, pagination } = page.parse(await send('GET', `${path}?${parameters.toString()}`))
      items.push(...data)
      cursor = pagination.next_cursor
      if (cursor === '') break
    }
    return items
  }

  return {
    listDevices: () => listAll('/devices', deviceSchema),
    listStreams: () => listAll('/ssf_streams', streamSchema),
    async createStream({ name, push }) {
      const body = {
        name,
        delivery:
          push === undefined
            ? { method: DELIVERY_METHOD_POLL }
            : { method: DELIVERY_METHOD_PUSH, endpoint_url: push.endpointUrl },
        events_requested: [DEVICE_COMPLIANCE_CHANGE],
        ...(push === undefined ? {} : { authorization_header: push.authorization }),
      }
      return streamSchema.parse(await send('POST', '/ssf_streams', body))
    },
    async deleteStream(id) {
      await send('DELETE', `/ssf_streams/${id}`)
    },
    get requestCount() {
      return requestCount
    },
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return error.cause instanceof Error ? error.cause.message : error.message
}
