import { X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readFile, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../clock.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import {
  openSelfSignedTls,
  toCertificateNames,
  type SelfSignedTlsSource,
} from './self-signed-tls.ts'

let folder: string
let clock: ManualClock

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tls-')), 'tls')
  // Real servers and clients judge validity by the real time.
  clock = new ManualClock(new Date())
})

afterEach(() => rm(dirname(folder), { recursive: true, force: true }))

const open = (names: readonly string[] = ['trust.example.com']): Promise<SelfSignedTlsSource> =>
  openSelfSignedTls({ folder, names, clock })

/** The status that a client gets who calls `name` and trusts `ca`, or the code of its error. */
async function callServer(
  { key, cert }: { key: string; cert: string },
  name: string,
  ca: string | undefined,
): Promise<number | string | undefined> {
  const server = createServer({ key, cert }, (_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const isAddress = name === '127.0.0.1'
  const options = {
    host: '127.0.0.1',
    port,
    ca,
    agent: false,
    ...(isAddress ? {} : { servername: name }),
  }
  return new Promise((resolve) => {
    get(options, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  }).finally(() => server.close()) as Promise<number | string | undefined>
}

describe('a self-signed certificate', () => {
  it('is accepted by clients that trust the authority, for each of its names', async () => {
    const { current } = await open()
    for (const name of ['trust.example.com', 'localhost', '127.0.0.1']) {
      expect(await callServer(current, name, current.caPem), name).toBe(200)
    }
  })

  it('is refused for other names and by clients that do not trust the authority', async () => {
    const { current } = await open()
    expect(await callServer(current, 'other.example.com', current.caPem)).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    )
    expect(await callServer(current, 'localhost', undefined)).toBe(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    )
  })

  it('names all names and addresses and lives at most 397 days', async () => {
    const { current } = await open(['trust.example.com', '192.0.2.7', '2001:db8::7', '0.0.0.0'])
    const certificate = new X509Certificate(current.cert)
    for (const name of ['trust.example.com', 'localhost'])
      expect(certificate.checkHost(name)).toBe(name)
    for (const ip of ['192.0.2.7', '2001:db8::7', '127.0.0.1', '::1'])
      expect(certificate.checkIP(ip)).toBe(ip)
    expect(certificate.checkIP('0.0.0.0')).toBeUndefined()
    expect(certificate.ca).toBe(false)
    const lifetimeMs = certificate.validToDate.getTime() - certificate.validFromDate.getTime()
    expect(lifetimeMs).toBe(397 * DAY_MS)
    expect(current.notAfter).toEqual(certificate.validToDate)
  })

  it('comes from an authority that lives ten years and may sign servers only', async () => {
    const { current } = await open()
    const authority = new X509Certificate(current.caPem)
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(authority.validToDate.getTime() - authority.validFromDate.getTime()).toBe(3_650 * DAY_MS)
    expect(new X509Certificate(current.cert).checkIssued(authority)).toBe(true)
    expect(await readFile(current.caPath, 'utf8')).toBe(current.caPem)
  })

  it.runIf(process.platform !== 'win32')('keeps its keys readable by the owner only', async () => {
    await open()
    const modes = await Promise.all(
      (await readdir(folder)).map(async (name) => [
        name,
        (await stat(join(folder, name))).mode & 0o777,
      ]),
    )
    expect(Object.fromEntries(modes)).toEqual({
      'authority.pem': 0o600,
      'ca.pem': 0o644,
      'server.pem': 0o600,
    })
    await chmod(join(folder, 'server.pem'), 0o644)
    await expect(open()).rejects.toThrow(/open to other users/)
  })
})

describe('opening again', () => {
  it('gives the same authority and certificate', async () => {
    const first = await open()
    const second = await open()
    expect(second.current).toEqual(first.current)
    expect(await second.renewIfDue()).toBeUndefined()
  })

  it('agrees on one authority when several processes start at once', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => open()))
    expect(new Set(opened.map(({ current }) => current.caPem)).size).toBe(1)
  })

  it('renews the certificate and keeps the authority when a name is added', async () => {
    const before = (await open()).current
    const after = (await open(['trust.example.com', 'new.example.com'])).current
    expect(after.caPem).toBe(before.caPem)
    expect(after.cert).not.toBe(before.cert)
    expect(await callServer(after, 'new.example.com', before.caPem)).toBe(200)
  })

  it('signs the certificate anew when the authority has been replaced', async () => {
    const before = (await open()).current
    await unlink(join(folder, 'authority.pem'))
    const after = (await open()).current
    expect(after.caPem).not.toBe(before.caPem)
    expect(await callServer(after, 'localhost', after.caPem)).toBe(200)
  })

  it('restores the public copy of the authority', async () => {
    const { caPath, caPem } = (await open()).current
    await unlink(caPath)
    await open()
    expect(await readFile(caPath, 'utf8')).toBe(caPem)
  })

  it('refuses a broken file instead of replacing the authority', async () => {
    await open()
    await writeFile(join(folder, 'authority.pem'), 'broken', { mode: 0o600 })
    await expect(open()).rejects.toThrow(/authority.pem is broken/)
  })
})

describe('renewIfDue', () => {
  it('renews within 30 days of the expiry, not before, and keeps the authority', async () => {
    const source = await open()
    const before = source.current
    clock.set(new Date(before.notAfter.getTime() - 31 * DAY_MS))
    expect(await source.renewIfDue()).toBeUndefined()
    clock.set(new Date(before.notAfter.getTime() - 29 * DAY_MS))
    const renewed = await source.renewIfDue()
    expect(renewed?.caPem).toBe(before.caPem)
    expect(renewed?.key).not.toBe(before.key)
    expect(renewed?.notAfter.getTime()).toBeGreaterThan(before.notAfter.getTime())
    expect(source.current).toBe(renewed)
  })

  it('replaces the authority when it is about to expire, and the certificate with it', async () => {
    const source = await open()
    const before = source.current
    clock.advance(3_640 * DAY_MS)
    const renewed = await source.renewIfDue()
    expect(renewed?.caPem).not.toBe(before.caPem)
    const authority = new X509Certificate(renewed?.caPem ?? '')
    expect(new X509Certificate(renewed?.cert ?? '').verify(authority.publicKey)).toBe(true)
  })
})

describe('toCertificateNames', () => {
  it('normalises names and leaves out what no client calls', () => {
    expect(
      toCertificateNames(['Host.Example.', '[2001:DB8:0::1]', '::', '0.0.0.0', 'localhost', '']),
    ).toEqual(['host.example', '2001:db8::1', 'localhost', '127.0.0.1', '::1'])
  })
})
