/* The demo as a client of the service's own REST API. Reads only the members that it needs. */
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
} from '@heliograph/ssf'
import { SECOND_MS } from '../../platform/clock.ts'

/** Why the demo cannot go on, in words for its user. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
}

export interface ApiStream {
  readonly id: string
  readonly name: string
  readonly stream_id: string
  readonly iss: string
  readonly aud: string
}

/** The requests that the demo makes; each throws DemoError when it fails. */
export interface DemoApi {
  findDeviceName(id: string): Promise<string>
  /** At most a hundred, which is how many there may be. */
  listStreams(): Promise<readonly ApiStream[]>
  /** Without a place to push to, the stream is polled. */
  createStream(
    name: string,
    push?: { readonly endpointUrl: string; readonly authorization: string },
  ): Promise<ApiStream>
  deleteStream(id: string): Promise<void>
}

const API_VERSION = '2026-04-07'
const TIMEOUT_MS = 30 * SECOND_MS

/** Creates a client of the service at `baseUrl` with an API key. Opens no connection yet. */
export function createDemoApi(baseUrl: string, key: string): DemoApi {
  async function send<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-api-version': API_VERSION,
        'content-type': 'application/json',
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new DemoError(`${method} ${path} failed: ${describe(error)}`)
    })
    const text = await response.text()
    if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Body
    throw new DemoError(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`)
  }

  return {
    findDeviceName: async (id) => (await send<{ name: string }>('GET', `/devices/${id}`)).name,
    listStreams: async () =>
      (await send<{ data: ApiStream[] }>('GET', '/ssf_streams?per_page=100')).data,
    createStream(name, push) {
      const delivery =
        push === undefined
          ? { delivery: { method: DELIVERY_METHOD_POLL } }
          : {
              delivery: { method: DELIVERY_METHOD_PUSH, endpoint_url: push.endpointUrl },
              authorization_header: push.authorization,
            }
      const body = { name, events_requested: [DEVICE_COMPLIANCE_CHANGE], ...delivery }
      return send('POST', '/ssf_streams', body)
    },
    deleteStream: (id) => send('DELETE', `/ssf_streams/${id}`),
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  return error.cause instanceof Error ? error.cause.message : error.message
}
