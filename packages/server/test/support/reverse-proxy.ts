/*
 * A real reverse proxy on a loopback port, configured as docs/sign-in.md says, in front of a site that answers what it
 * was sent. Nothing is installed by it: a test that needs one is skipped where there is none.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { reservePort } from './reserve-ports.ts'
import { openSelfSignedTls } from '../../src/platform/tls/self-signed-tls.ts'

export type ProxyName = 'nginx' | 'caddy' | 'traefik' | 'envoy'

/** Whether there is such a proxy on this machine. */
export function hasProxy(name: ProxyName): boolean {
  return spawnSync('which', [name]).status === 0
}

export interface ProxiedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface ProxiedRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** In the place of the path: what stands in the first line of the request. */
  readonly target?: string
}

export interface ReverseProxy {
  /** Asks for an address of the site, as a browser asks for a page. */
  send(path: string, asked?: ProxiedRequest): Promise<ProxiedAnswer>
  /** Opens a web socket: the status of the answer. */
  openSocket(path: string, headers: Readonly<Record<string, string>>): Promise<number>
  close(): Promise<void>
}

interface Places {
  readonly folder: string
  readonly port: number
  /** Of the service. */
  readonly servicePort: number
  readonly sitePort: number
}

const GUIDE = new URL('../../../../docs/sign-in.md', import.meta.url)
const HOST = 'wiki.example.com'

/** A proxy that runs, with the certificate of the site. */
export interface RunningProxy {
  readonly port: number
  readonly caPem: string
  close(): Promise<void>
}

/**
 * Starts a proxy with a configuration that is made of where it listens and of its folder, in which the certificate is.
 */
export async function runProxy(
  name: ProxyName,
  toConfig: (place: Pick<Places, 'folder' | 'port'>) => string | Promise<string>,
): Promise<RunningProxy> {
  const cleanup = new CleanupStack()
  const folder = await mkdtemp(join(tmpdir(), `${name}-`))
  cleanup.add(() => rm(folder, { recursive: true, force: true }))
  const { current } = await openSelfSignedTls({ folder, names: [HOST], clock: systemClock })
  await writeFile(join(folder, 'site.crt'), current.cert)
  await writeFile(join(folder, 'site.key'), current.key)
  const port = await reservePort()
  const config = join(folder, 'config.yaml')
  await writeFile(config, await toConfig({ folder, port }))
  const args = {
    nginx: ['-p', folder, '-c', config, '-e', join(folder, 'error.log')],
    caddy: ['run', '--adapter', 'caddyfile', '--config', config],
    traefik: [`--configFile=${config}`],
    envoy: ['--config-path', config, '--disable-hot-restart', '--log-level', 'warning'],
  }[name]
  const homes = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const environment = { ...process.env, ...homes }
  const child = spawn(name, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => said.push(bytes.toString()))
  }
  cleanup.add(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  while (!(await isServing(port, current.caPem))) {
    if (child.exitCode !== null) throw new Error(`${name} has ended: ${said.join('')}`)
    await sleep(50)
  }
  return { port, caPem: current.caPem, close: () => cleanup.run() }
}

/** Starts one; close it in `afterAll`. The service listens on this port of 127.0.0.1. */
export async function startReverseProxy(
  name: ProxyName,
  servicePort: number,
): Promise<ReverseProxy> {
  const site = await startSite()
  const guide = await readGuide(name)
  const running = await runProxy(name, (place) => {
    const places = { ...place, servicePort, sitePort: site.port }
    return { nginx: toNginx, caddy: toCaddy, traefik: toTraefik, envoy: toEnvoy }[name](
      guide,
      places,
    )
  })
  const { port, caPem } = running
  const ask = { port, ca: caPem, servername: HOST, host: '127.0.0.1' }
  return {
    send: async (path, { method = 'GET', headers = {}, target = path } = {}) =>
      new Promise((resolve, reject) => {
        const all = { host: HOST, 'sec-fetch-mode': 'navigate', ...headers }
        const sent = request({ ...ask, method, path: target, headers: all }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => {
            const body = Buffer.concat(chunks).toString()
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
          })
        })
        sent.on('error', reject)
        sent.end()
      }),
    openSocket: async (path, headers) =>
      new Promise((resolve, reject) => {
        const all = {
          ...{ host: HOST, connection: 'Upgrade', upgrade: 'websocket' },
          ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
          ...headers,
        }
        const sent = request({ ...ask, path, headers: all }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        sent.on('upgrade', (response, socket) => {
          socket.destroy()
          resolve(response.statusCode ?? 0)
        })
        sent.on('error', reject)
        sent.end()
      }),
    close: async () => {
      await running.close()
      await site.close()
    },
  }
}

/** Answers with the headers that it was sent, and opens every web socket. */
async function startSite() {
  const server = createServer((asked, answer) => {
    answer.setHeader('content-type', 'application/json')
    answer.end(JSON.stringify({ site: 'wiki', url: asked.url, headers: asked.headers }))
  })
  server.on('upgrade', (_asked, socket) => {
    socket.end(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** The configuration of the guide. */
async function readGuide(name: ProxyName): Promise<string> {
  const text = await readFile(GUIDE, 'utf8')
  const block = new RegExp(`### ${name}\n\n\`{3}\\w+\n(.+?)\`{3}`, 'is')
  const [, config] = block.exec(text) ?? []
  if (config === undefined) throw new Error(`the guide of ${name} is gone`)
  return config
}

/** Takes the place of something that must be in the guide. */
function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the guide has no ${from}`)
  return text.replaceAll(from, to)
}

function toNginx(guide: string, { folder, port, servicePort, sitePort }: Places): string {
  const certificate = `ssl_certificate ${folder}/site.crt; ssl_certificate_key ${folder}/site.key;`
  let server = replace(guide, 'listen 443 ssl;', `listen 127.0.0.1:${port} ssl; ${certificate}`)
  server = replace(
    server,
    'proxy_pass https://trust.example.com',
    `proxy_pass http://127.0.0.1:${servicePort}`,
  )
  server = replace(server, 'http://127.0.0.1:8080', `http://127.0.0.1:${sitePort}`)
  server = replace(server, '/etc/ssl/certs/ca-certificates.crt', `${folder}/site.crt`)
  return toNginxFile(server, folder)
}

/** A whole configuration of a server, which keeps everything in a folder. */
export function toNginxFile(server: string, folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  )
  return `daemon off; worker_processes 1; pid ${folder}/pid;
    events { worker_connections 64; }
    http { access_log off; ${temporary.join(' ')}
    ${server} }`
}

function toCaddy(guide: string, { folder, port, servicePort, sitePort }: Places): string {
  const files = `\tbind 127.0.0.1\n\ttls ${folder}/site.crt ${folder}/site.key`
  let site = replace(guide, 'wiki.example.com {', `https://wiki.example.com:${port} {\n${files}`)
  site = replace(site, 'https://trust.example.com', `http://127.0.0.1:${servicePort}`)
  site = replace(site, '127.0.0.1:8080', `127.0.0.1:${sitePort}`)
  return toCaddyFile(site)
}

/** A whole configuration of a site, which takes no commands and asks for no certificates. */
export function toCaddyFile(site: string): string {
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`
}

/** What it serves stands in a file of its own; it asks nobody for newer versions, and tells nobody of itself. */
async function toTraefik(
  guide: string,
  { folder, port, servicePort, sitePort }: Places,
): Promise<string> {
  const served = join(folder, 'served.yaml')
  const http = replace(guide, 'https://trust.example.com', `http://127.0.0.1:${servicePort}`)
  await writeFile(
    served,
    `${http}  services:
    wiki:
      loadBalancer:
        servers:
          - url: http://127.0.0.1:${sitePort}
tls:
  certificates:
    - certFile: ${folder}/site.crt
      keyFile: ${folder}/site.key
`,
  )
  return `global:
  checkNewVersion: false
  sendAnonymousUsage: false
entryPoints:
  websecure:
    address: 127.0.0.1:${port}
providers:
  file:
    filename: ${served}
`
}

const ENVOY_TYPES = 'type.googleapis.com/envoy.extensions'

function toEnvoy(guide: string, { folder, port, servicePort, sitePort }: Places): string {
  const filters = guide.trimEnd().replaceAll('\n', '\n                ')
  return `static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: ${port} } }
      filter_chains:
        - transport_socket:
            name: tls
            typed_config:
              '@type': ${ENVOY_TYPES}.transport_sockets.tls.v3.DownstreamTlsContext
              common_tls_context:
                tls_certificates:
                  - certificate_chain: { filename: ${folder}/site.crt }
                    private_key: { filename: ${folder}/site.key }
          filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                '@type': ${ENVOY_TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: wiki
                common_http_protocol_options: { headers_with_underscores_action: REJECT_REQUEST }
                upgrade_configs: [{ upgrade_type: websocket }]
                route_config:
                  virtual_hosts:
                    - name: wiki
                      domains: [${HOST}]
                      routes: [{ match: { prefix: / }, route: { cluster: wiki } }]
                ${filters}
                  - name: envoy.filters.http.router
                    typed_config: { '@type': ${ENVOY_TYPES}.filters.http.router.v3.Router }
  clusters: [${toCluster('heliograph', servicePort)}, ${toCluster('wiki', sitePort)}]
`
}

function toCluster(name: string, port: number): string {
  const address = `{ socket_address: { address: 127.0.0.1, port_value: ${port} } }`
  const endpoints = `[{ lb_endpoints: [{ endpoint: { address: ${address} } }] }]`
  return `{ name: ${name}, load_assignment: { cluster_name: ${name}, endpoints: ${endpoints} } }`
}

/** Whether it has read what it serves: some listen before that, with a certificate of their own. */
async function isServing(port: number, ca: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, servername: HOST, ca })
  try {
    await once(socket, 'secureConnect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
