import { findFreePort } from '../../packages/server/src/platform/net/find-free-port.ts'

const taken = new Set<number>()

/** Ports of the loopback address that are free, and that nobody else in this process is given. */
export async function takePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = await findFreePort('127.0.0.1')
    if (taken.has(port)) continue
    taken.add(port)
    ports.push(port)
  }
  return ports
}
