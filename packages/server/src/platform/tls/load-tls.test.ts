import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { issueAuthorityCertificate, issueServerCertificate } from './issue-certificate.ts'
import { loadTls, type TlsFiles } from './load-tls.ts'

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const VALIDITY = {
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2026-12-31T00:00:00Z'),
}
const key = newKey()
const authority = { key, certificate: await issueAuthorityCertificate('Test', key, VALIDITY) }
const cert = await issueServerCertificate(authority, createPublicKey(key), ['a.example'], VALIDITY)

let folder: string
let files: TlsFiles

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'load-tls-'))
  files = { certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') }
  await writeFile(files.certPath, `${cert}${authority.certificate}`)
  await writeFile(files.keyPath, toPem(key))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const load = (now = '2026-06-01T00:00:00Z') => loadTls(files, new ManualClock(now))

describe('loadTls', () => {
  it('answers key and certificate chain as they are in the files', async () => {
    expect(await load()).toEqual({ key: toPem(key), cert: `${cert}${authority.certificate}` })
  })

  it('refuses files that cannot be read', async () => {
    await rm(files.keyPath)
    await expect(load()).rejects.toThrow(/The TLS key .*key.pem cannot be read \(ENOENT\)/)
  })

  it('refuses files that hold something else', async () => {
    await writeFile(files.certPath, 'nothing')
    await expect(load()).rejects.toThrow(/cert.pem is not a PEM certificate/)
    await writeFile(files.certPath, cert)
    await writeFile(files.keyPath, 'nothing')
    await expect(load()).rejects.toThrow(/key.pem is not an unencrypted PEM private key/)
  })

  it('refuses a key that does not belong to the certificate', async () => {
    await writeFile(files.keyPath, toPem(newKey()))
    await expect(load()).rejects.toThrow(/does not belong to the certificate/)
  })

  it('refuses a certificate that has expired or is not valid yet', async () => {
    await expect(load('2027-01-01T00:00:00Z')).rejects.toThrow(
      /expired on 2026-12-31T00:00:00.000Z/,
    )
    await expect(load('2025-01-01T00:00:00Z')).rejects.toThrow(/becomes valid only on 2026-01-01/)
  })
})
