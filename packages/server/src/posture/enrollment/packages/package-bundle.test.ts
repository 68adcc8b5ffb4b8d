import { generateKeyPairSync } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT_SETTINGS_DEFAULT } from '../../osquery/agent-settings.ts'
import { issueAuthorityCertificate } from '../../../platform/tls/issue-certificate.ts'
import { toPackageArchive } from './package-archive.ts'
import { PACKAGE_PLATFORMS, toPackageBundle, type PackagePlatform } from './package-bundle.ts'
import type { PackageContents } from './package-contents.ts'

const CONTENTS: PackageContents = {
  baseUrl: 'https://trust.example.com:8443',
  settings: AGENT_SETTINGS_DEFAULT,
  enrollSecret: 'a-secret',
  secretCreatedAt: new Date('2026-01-02T03:04:05.678Z'),
  caPem: undefined,
}

interface Unpacked {
  readonly text: string
  readonly mode: number | undefined
  readonly mtime: Date | undefined
}

async function unpack(platform: PackagePlatform, contents = CONTENTS) {
  const archive = await toPackageArchive(toPackageBundle(platform, contents))
  const files = new Map<string, Unpacked>()
  const reader = extract()
  reader.end(gunzipSync(archive))
  for await (const entry of reader) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const { name, mode, mtime } = entry.header
    files.set(name, { text: Buffer.concat(chunks).toString(), mode, mtime })
  }
  return files
}

/** The flags of a bundle by name. */
async function flagsOf(platform: PackagePlatform, contents = CONTENTS) {
  const files = await unpack(platform, contents)
  const lines = files.get(`heliograph-${platform}/osquery.flags`)?.text.trim().split('\n') ?? []
  return new Map(lines.map((line) => line.slice(2).split('=', 2) as [string, string]))
}

let authority: PackageContents

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const caPem = await issueAuthorityCertificate('Heliograph', privateKey, {
    notBefore: new Date('2026-05-01T00:00:00Z'),
    notAfter: new Date('2036-05-01T00:00:00Z'),
  })
  authority = { ...CONTENTS, caPem }
})

describe.each(PACKAGE_PLATFORMS)('a bundle for %s', (platform) => {
  const folder = `heliograph-${platform}`

  it('is the same bytes each time, and another version when anything in it is another', async () => {
    const archives = await Promise.all(
      [1, 2].map(() => toPackageArchive(toPackageBundle(platform, CONTENTS))),
    )
    expect(archives[0]?.equals(archives[1] ?? Buffer.alloc(0))).toBe(true)
    const versions = [
      CONTENTS,
      authority,
      { ...CONTENTS, enrollSecret: 'another' },
      { ...CONTENTS, baseUrl: 'https://other.example.com' },
      { ...CONTENTS, settings: { ...AGENT_SETTINGS_DEFAULT, checkInIntervalSeconds: 30 } },
    ].map((contents) => toPackageBundle(platform, contents).version)
    expect(new Set(versions).size).toBe(versions.length)
  })

  it('holds one folder whose files are as old as the newest of what they are made from', async () => {
    const files = await unpack(platform)
    expect([...files.keys()].every((name) => name.startsWith(`${folder}/`))).toBe(true)
    const built = new Date('2026-01-02T03:04:05.000Z')
    expect([...files.values()].every(({ mtime }) => mtime?.getTime() === built.getTime())).toBe(
      true,
    )
    expect(toPackageBundle(platform, authority).builtAt).toEqual(new Date('2026-05-01T00:00:00Z'))
  })

  it('holds the secret, readable by its owner alone, and speaks to this service', async () => {
    const files = await unpack(platform)
    expect(files.get(`${folder}/enroll_secret`)).toMatchObject({ text: 'a-secret\n', mode: 0o600 })
    const flags = await flagsOf(platform)
    expect(flags.get('tls_hostname')).toBe('trust.example.com:8443')
    expect(flags.get('enroll_tls_endpoint')).toBe('/osquery/enroll')
    expect(flags.get('enroll_secret_path')).toMatch(/heliograph.enroll_secret$/)
    const others = [...files].filter(([name]) => !name.endsWith('enroll_secret'))
    expect(others.some(([, { text }]) => text.includes('a-secret'))).toBe(false)
  })

  it('pins the certificate that the service issued itself, and none otherwise', async () => {
    expect((await unpack(platform)).has(`${folder}/certificate.pem`)).toBe(false)
    expect((await flagsOf(platform)).has('tls_server_certs')).toBe(false)
    const pinned = await unpack(platform, authority)
    expect(pinned.get(`${folder}/certificate.pem`)?.text).toBe(authority.caPem)
    const flags = await flagsOf(platform, authority)
    expect(flags.get('tls_server_certs')).toMatch(/heliograph.certificate\.pem$/)
  })

  it('has a script that puts every settings file where the flags look for it', async () => {
    const files = await unpack(platform, authority)
    const name = platform === 'windows' ? 'install.ps1' : 'install.sh'
    const script = files.get(`${folder}/${name}`)
    if (platform !== 'windows') expect(script?.mode).toBe(0o755)
    const flags = await flagsOf(platform, authority)
    const place = flags.get('enroll_secret_path')?.replace(/.enroll_secret$/, '') ?? ''
    expect(script?.text).toContain(place)
    for (const file of ['osquery.flags', 'enroll_secret', 'certificate.pem']) {
      expect(script?.text).toContain(file)
    }
    const readme = files.get(`${folder}/README.txt`)?.text
    expect(readme).toContain(name)
    expect(readme).toContain('https://trust.example.com:8443')
  })
})

describe('the service of a bundle', () => {
  it.each([
    ['linux', 'heliograph-osqueryd.service', '--flagfile=/etc/heliograph/osquery.flags'],
    ['darwin', 'heliograph.osqueryd.plist', '--flagfile=/private/etc/heliograph/osquery.flags'],
    ['windows', 'install.ps1', 'New-Service -Name $service'],
  ] as const)('on %s is in %s', async (platform, name, text) => {
    const files = await unpack(platform)
    expect(files.get(`heliograph-${platform}/${name}`)?.text).toContain(text)
  })

  it('on Windows comes in files whose lines end as its editors expect', async () => {
    const files = await unpack('windows')
    const script = files.get('heliograph-windows/install.ps1')?.text ?? ''
    expect(script.replaceAll('\r\n', '')).not.toContain('\n')
  })

  it('is said to need HTTPS where the service speaks plain HTTP', async () => {
    const plain = { ...CONTENTS, baseUrl: 'http://127.0.0.1:8080' }
    const readme = (await unpack('linux', plain)).get('heliograph-linux/README.txt')?.text
    expect(readme).toContain('HTTPS only')
  })
})
