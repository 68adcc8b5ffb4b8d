/*
 * HAProxy before the database and before the service. Connections to the database go to the server that Patroni calls
 * primary. Devices go to a process by their node key, so that each process holds in memory only the devices that it
 * serves; everybody else by address.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChildProcesses, Program } from './child-processes.ts'
import type { DatabaseNode } from './patroni-cluster.ts'
import { takePorts } from './take-ports.ts'

export interface Balancer {
  readonly program: Program
  readonly databasePort: number
  readonly servicePort: number
}

export async function startBalancer(
  processes: ChildProcesses,
  folder: string,
  nodes: readonly DatabaseNode[],
  servicePorts: readonly number[],
): Promise<Balancer> {
  const [databasePort = 0, servicePort = 0] = await takePorts(2)
  const path = join(folder, 'haproxy.cfg')
  await writeFile(path, toConfiguration({ databasePort, servicePort }, nodes, servicePorts))
  const program = processes.run('haproxy', ['haproxy', '-db', '-f', path])
  return { program, databasePort, servicePort }
}

function toConfiguration(
  { databasePort, servicePort }: Pick<Balancer, 'databasePort' | 'servicePort'>,
  nodes: readonly DatabaseNode[],
  servicePorts: readonly number[],
): string {
  const services = servicePorts
    .map(
      (port, at) => `  server service-${at + 1} 127.0.0.1:${port} check inter 500ms fall 2 rise 1`,
    )
    .join('\n')
  const databases = nodes
    .map(({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`)
    .join('\n')
  return `
global
  maxconn 4000

defaults
  timeout connect 2s
  timeout client 90s
  timeout server 90s
  timeout check 2s
  timeout queue 5s

listen database
  mode tcp
  bind 127.0.0.1:${databasePort}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fastinter 200ms downinter 300ms fall 2 rise 1 on-marked-down shutdown-sessions
${databases}

frontend service
  mode http
  bind 127.0.0.1:${servicePort}
  use_backend devices if { req.hdr(authorization) -m beg NodeKey }
  default_backend others

backend devices
  mode http
  balance hdr(authorization)
  hash-type consistent
  option httpchk GET /readyz
  option redispatch
  retries 2
${services}

backend others
  mode http
  balance source
  hash-type consistent
  option httpchk GET /readyz
  option redispatch
  retries 2
${services}
`
}
