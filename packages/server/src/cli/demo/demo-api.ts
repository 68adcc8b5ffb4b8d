/*
 * The demo as a client of the service's own REST API. Reads only the members that it shows.
 */
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
} from '@heliograph/ssf'
import type { FetchFunction } from '@heliograph/receiver'
import { Agent } from 'undici'
import { z } from 'zod'
import { DemoError } from './demo-error.ts'

const deviceSchema = z.object({ id: z.string(), name: z.string(), auth_state: z.string() })
const streamSchema = z.object({
  id: z.string(),
  name: z.string(),
  stream_id: z.string(),
  iss: z.string(),
  aud: z.string(),
})

export type ApiDevice = z.output<typeof deviceSchema>
export type ApiStream = z.output<typeof streamSchema>

/** The requests that the demo makes; each throws DemoError when it fails. */
export interface DemoApi {
  /** Over the connections of this client. */
  readonly fetch: FetchFunction
  listDevices(): Promise<ApiDevice[]>
  listStreams(): Promise<ApiStream[]>
  /** Without a place to push to, the stream is polled. */
  createStream(
    name: string,
    push?: { readonly endpointUrl: string; readonly authorization: string },
  ): Promise<ApiStream>
  deleteStream(id: string): Promise<void>
  /** Closes its connections: a service that ends waits for those that nobody closes. */
  close(): Promise<void>
}

/** How many records a request reads. */
export const PER_PAGE = 100
const API_VERSION = '2026-04-07'
const TIMEOUT_MS = 30_000

/** Creates a client of the service at `baseUrl` with an API key. Opens no connection yet. */
export function createDemoApi(baseUrl: string, key: string): DemoApi {
  const agent = new Agent()
  // The library and the types of Node.js declare the same class in two versions.
  const dispatcher = agent as unknown as NonNullable<RequestInit['dispatcher']>
  const fetchFunction: FetchFunction = (url, init) => fetch(url, { ...init, dispatcher })

  async function send(method: string, path: string, body?: object): Promise<unknown> {
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
    do {
      const parameters = new URLSearchParams({ per_page: String(PER_PAGE) })
      if (cursor !== '') parameters.set('cursor', cursor)
      const { data, pagination } = page.parse(await send('GET', `${path}?${parameters.toString()}`))
      items.push(...data)
      cursor = pagination.next_cursor
    } while (cursor !== '')
    return items
  }

  return {
    fetch: fetchFunction,
    listDevices: () => listAll('/devices', deviceSchema),
    listStreams: () => listAll('/ssf_streams', streamSchema),
    async createStream(name, push) {
      const delivery =
        push === undefined
          ? { delivery: { method: DELIVERY_METHOD_POLL } }
          : {
              delivery: { method: DELIVERY_METHOD_PUSH, endpoint_url: push.endpointUrl },
              authorization_header: push.authorization,
            }
      const body = { name, events_requested: [DEVICE_COMPLIANCE_CHANGE], ...delivery }
      return streamSchema.parse(await send('POST', '/ssf_streams', body))
    },
    deleteStream: async (id) => void (await send('DELETE', `/ssf_streams/${id}`)),
    close: () => agent.destroy(),
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return error.cause instanceof Error ? error.cause.message : error.message
}
