/*
 * The demo as a client of the service's own REST API. Reads only the members that it shows.
 */
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
} from '@heliograph/ssf'
import { SECOND_MS } from '../../platform/clock.ts'
import { DemoError } from './demo-error.ts'

export interface ApiDevice {
  readonly id: string
  readonly name: string
  readonly auth_state: string
}

export interface ApiStream {
  readonly id: string
  readonly name: string
  readonly stream_id: string
  readonly iss: string
  readonly aud: string
}

/** A page of a list. */
interface ApiPage<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly next_cursor: string }
}

/** The requests that the demo makes; each throws DemoError when it fails. */
export interface DemoApi {
  listDevices(): Promise<ApiDevice[]>
  listStreams(): Promise<ApiStream[]>
  /** Without a place to push to, the stream is polled. */
  createStream(
    name: string,
    push?: { readonly endpointUrl: string; readonly authorization: string },
  ): Promise<ApiStream>
  deleteStream(id: string): Promise<void>
}

/** How many records a request reads. */
export const PER_PAGE = 100
const API_VERSION = '2026-04-07'
const TIMEOUT_MS = 30 * SECOND_MS

/** Creates a client of the service at `baseUrl` with an API key. Opens no connection yet. */
export function createDemoApi(baseUrl: string, key: string): DemoApi {
  const headers = {
    authorization: `Bearer ${key}`,
    'x-service-api-version': API_VERSION,
    'content-type': 'application/json',
  }

  async function send(method: string, path: string, body?: object): Promise<unknown> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const payload = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers,
      signal,
      ...payload,
    }).catch((error: unknown) => {
      throw new DemoError(`${method} ${path} failed: ${describe(error)}`)
    })
    const text = await response.text()
    if (response.ok) return text === '' ? undefined : JSON.parse(text)
    throw new DemoError(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
  }

  async function listAll<Item>(path: string): Promise<Item[]> {
    const items: Item[] = []
    let cursor = ''
    do {
      const parameters = new URLSearchParams({ per_page: String(PER_PAGE) })
      if (cursor !== '') parameters.set('cursor', cursor)
      const page = (await send('GET', `${path}?${parameters.toString()}`)) as ApiPage<Item>
      items.push(...page.data)
      cursor = page.pagination.next_cursor
    } while (cursor !== '')
    return items
  }

  return {
    listDevices: () => listAll('/devices'),
    listStreams: () => listAll('/ssf_streams'),
    async createStream(name, push) {
      const delivery =
        push === undefined
          ? { delivery: { method: DELIVERY_METHOD_POLL } }
          : {
              delivery: { method: DELIVERY_METHOD_PUSH, endpoint_url: push.endpointUrl },
              authorization_header: push.authorization,
            }
      const body = { name, events_requested: [DEVICE_COMPLIANCE_CHANGE], ...delivery }
      return (await send('POST', '/ssf_streams', body)) as ApiStream
    },
    deleteStream: async (id) => void (await send('DELETE', `/ssf_streams/${id}`)),
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return error.cause instanceof Error ? error.cause.message : error.message
}
