import { Agent } from 'undici'
import type { FetchFunction } from '@heliograph/receiver'

/** The connections of the demo to its service. */
export interface DemoConnections {
  readonly fetch: FetchFunction
  /** Closes them all: a service that ends waits for connections that nobody closes. */
  close(): Promise<void>
}

/** Opens no connection yet. */
export function createDemoConnections(): DemoConnections {
  const agent = new Agent()
  // The library and the types of Node.js declare the same class in two versions.
  const dispatcher = agent as unknown as NonNullable<RequestInit['dispatcher']>
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    close: () => agent.destroy(),
  }
}
