import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createHostProfile } from './host-profile.ts'
import { detectKeyEncryption, scanSshKeys } from './ssh-key-scan.ts'

let folder: string | undefined
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  folder = undefined
})

function opensshKey(cipher: string): string {
  const name = Buffer.from(cipher)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(name.length)
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, name, Buffer.alloc(40)])
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`
}

function pemKey(passphrase?: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const cipher = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
  return privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }).toString()
}

describe('SSH keys of the host', () => {
  test.each([
    ['an OpenSSH key without a passphrase', opensshKey('none'), false],
    ['an OpenSSH key with a passphrase', opensshKey('aes256-ctr'), true],
    ['a PKCS #8 key without a passphrase', pemKey(), false],
    ['a PKCS #8 key with a passphrase', pemKey('secret'), true],
    ['a public key', 'ssh-ed25519 AAAA someone@example.com', undefined],
    ['an empty file', '', undefined],
  ])('%s', (_name, text, isEncrypted) => {
    expect(detectKeyEncryption(text)).toBe(isEncrypted)
  })

  test('rows name the path and the encryption, never what is in the key', async () => {
    folder = await mkdtemp(join(tmpdir(), 'heliograph-keys-'))
    await mkdir(join(folder, '.ssh'))
    const key = opensshKey('none')
    await writeFile(join(folder, '.ssh', 'id_test'), key)
    await writeFile(join(folder, '.ssh', 'id_test.pub'), 'ssh-ed25519 AAAA')
    await writeFile(join(folder, '.ssh', 'unreadable'), key)
    await chmod(join(folder, '.ssh', 'unreadable'), 0o000)
    const rows = await scanSshKeys(folder, 1_000)
    expect(rows[0]).toEqual({
      uid: 1_000,
      path: join(folder, '.ssh', 'id_test'),
      encrypted: 0,
      key_type: '',
      key_length: -1,
    })
    expect(JSON.stringify(rows)).not.toContain('b3BlbnNzaC1rZXk')
  })

  test('a home without keys has no rows', async () => {
    expect(await scanSshKeys('/nonexistent', 0)).toEqual([])
  })
})

describe('the host profile', () => {
  test('shows this machine, and survives what it cannot read', async () => {
    const host = await createHostProfile()
    const rowsOf = (sql: string): Record<string, string>[] => {
      const result = host.tables.query(sql)
      if (result.outcome === 'error') throw new Error(result.message)
      return result.rows
    }
    try {
      expect(host.hostIdentifier).toMatch(/^[0-9A-F-]{36}$/)
      expect(rowsOf('SELECT hostname, cpu_logical_cores FROM system_info')).toHaveLength(1)
      expect(rowsOf('SELECT name, major FROM os_version')).toHaveLength(1)
      expect(rowsOf('SELECT pid FROM processes').length).toBeGreaterThan(0)
      expect(rowsOf('SELECT username FROM users').length).toBeGreaterThan(0)
      expect(
        Number(rowsOf('SELECT total_seconds FROM uptime')[0]?.['total_seconds']),
      ).toBeGreaterThan(0)
      await host.refresh()
      expect(rowsOf('SELECT hostname FROM system_info')).toHaveLength(1)
    } finally {
      host.close()
    }
  })
})
