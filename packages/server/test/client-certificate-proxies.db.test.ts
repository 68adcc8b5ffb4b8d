/* Client certificates as real proxies tell them, configured as docs/sign-in.md says. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readClientCertificate } from '../src/sign-in/certificates/client-certificate-input.ts'
import { issueClientCertificate, type TestCertificate } from './support/client-certificates.ts'
import {
  hasProxy,
  runProxy,
  toCaddyFile,
  toNginxFile,
  type ProxyName,
  type RunningProxy,
} from './support/reverse-proxy.ts'

const HOST = 'wiki.example.com'
const HEADER = { name: 'X-Client-Cert', proxies: ['127.0.0.1'] }
const PROXIES: readonly ProxyName[] = ['nginx', 'caddy']

function toConfig(name: ProxyName, folder: string, port: number, to: string): string {
  if (name === 'nginx') {
    return toNginxFile(
      `server { listen 127.0.0.1:${port} ssl; server_name ${HOST};
        ssl_certificate ${folder}/site.crt; ssl_certificate_key ${folder}/site.key;
        ssl_verify_client optional; ssl_client_certificate ${folder}/devices.pem;
        location / { proxy_set_header X-Client-Cert $ssl_client_escaped_cert; proxy_pass ${to}; } }`,
      folder,
    )
  }
  return toCaddyFile(`https://${HOST}:${port} {
	bind 127.0.0.1
	tls ${folder}/site.crt ${folder}/site.key {
		client_auth {
			mode verify_if_given
			trusted_ca_cert_file ${folder}/devices.pem
		}
	}
	reverse_proxy ${to} {
		header_up X-Client-Cert {http.request.tls.client.certificate_der_base64}
	}
}
`)
}

for (const name of PROXIES) {
  const title = hasProxy(name) ? name : `${name} (skipped: it is not installed here)`
  describe.skipIf(!hasProxy(name))(title, () => {
    const seen: IncomingHttpHeaders[] = []
    const service = createServer((asked, answer) => {
      seen.push(asked.headers)
      answer.end()
    })
    let proxy: RunningProxy
    let mine: TestCertificate
    let stranger: TestCertificate

    beforeAll(async () => {
      mine = await issueClientCertificate('ada-mbp', new Date())
      stranger = await issueClientCertificate('mallory', new Date())
      service.listen(0, '127.0.0.1')
      await once(service, 'listening')
      const to = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
      proxy = await runProxy(name, async ({ folder, port }) => {
        await writeFile(join(folder, 'devices.pem'), mine.pem)
        return toConfig(name, folder, port, to)
      })
    })
    afterAll(async () => {
      await proxy.close()
      service.closeAllConnections()
      service.close()
    })

    /** What the service reads of a request; undefined where the proxy lets none through. */
    async function send(shown?: TestCertificate, headers: Record<string, string> = {}) {
      seen.length = 0
      const key = shown === undefined ? {} : { cert: shown.pem, key: shown.keyPem }
      const { port, caPem: ca } = proxy
      const place = { host: '127.0.0.1', port, servername: HOST, agent: false } as const
      await new Promise<void>((resolve) => {
        const all = { host: HOST, ...headers }
        const sent = request({ ...place, ...key, ca, headers: all }, (response) => {
          response.resume()
          response.on('end', resolve)
        })
        sent.on('error', () => resolve())
        sent.end()
      })
      const [asked] = seen
      if (asked === undefined) return undefined
      return readClientCertificate({ headers: asked, peerAddress: '127.0.0.1' }, HEADER, new Date())
    }

    it('tells the certificate of a browser that has its key', async () => {
      expect(await send(mine)).toMatchObject({ sha1: mine.sha1 })
    })

    it('tells none where the browser has none, whatever it writes into the header', async () => {
      expect(await send()).toBe('missing')
      expect(await send(undefined, { 'x-client-cert': mine.base64 })).toBe('missing')
      const forged = await send(mine, { 'x-client-cert': stranger.base64 })
      expect(forged).toMatchObject({ sha1: mine.sha1 })
    })

    it('lets no certificate through that it cannot verify', async () => {
      expect(await send(stranger)).toBeUndefined()
    })
  })
}
