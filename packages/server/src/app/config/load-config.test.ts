import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAddressList } from '../../platform/net/address-list.ts'
import { ConfigError, findSecretFlags, loadConfig } from './load-config.ts'

let folder: string
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'settings-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function file(content: string): Promise<string> {
  const path = join(folder, String((files += 1)))
  await writeFile(path, content)
  return path
}

describe('loadConfig', () => {
  it('has a working default for everything', () => {
    expect(loadConfig({})).toMatchObject({
      baseUrl: 'http://127.0.0.1:8080',
      rateLimitPerMinute: 270,
      roles: ['api', 'agents', 'worker'],
    })
  })

  it('takes the port and the scheme into the default base URL', () => {
    const config = loadConfig({ HELIOGRAPH_PORT: '9000', HELIOGRAPH_TLS_CERT: 'self-signed' })
    expect(config.baseUrl).toBe('https://127.0.0.1:9000')
  })

  it('lets a flag win over a variable', () => {
    expect(loadConfig({ HELIOGRAPH_PORT: '1' }, { HELIOGRAPH_PORT: '2' }).port).toBe(2)
  })

  it('drops trailing slashes of the base URL', () => {
    expect(loadConfig({ HELIOGRAPH_BASE_URL: 'https://trust.example.com/' }).baseUrl).toBe(
      'https://trust.example.com',
    )
  })

  it.each([
    'https://trust.example.com/heliograph',
    'https://user@trust.example.com',
    'https://trust.example.com/?a=1',
    'https://trust.example.com/#top',
    'ftp://trust.example.com',
  ])('refuses the base URL %s, under which the service could not be found', (url) => {
    expect(() => loadConfig({ HELIOGRAPH_BASE_URL: url })).toThrow(/HELIOGRAPH_BASE_URL/)
  })

  it('reports all problems at once and never a secret value', () => {
    const attempt = () =>
      loadConfig({
        HELIOGRAPH_PORT: 'many',
        HELIOGRAPH_ROLES: 'api,cook',
        HELIOGRAPH_LOG_LEVEL: 'loud',
        HELIOGRAPH_BASE_URL: 'http://trust.example.com',
        HELIOGRAPH_TLS_KEY: '/etc/key.pem',
        DATABASE_URL: 'mysql://root:hunter2@db',
      })
    expect(attempt).toThrow(ConfigError)
    try {
      attempt()
    } catch (error) {
      const { problems, message } = error as ConfigError
      expect(problems).toHaveLength(6)
      expect(message).toContain('HELIOGRAPH_PORT (--port)')
      expect(message).not.toContain('hunter2')
    }
  })

  it.each([
    'postgres://u:p@one:5432,two:5432/db',
    'postgres://one,two/db?target_session_attrs=read-write',
    'postgres:///db?host=/one,/two&port=5432,5433',
  ])('takes several servers of a database: %s', (url) => {
    expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
  })

  it.each([
    ['postgres://one:5432,two:many/db', /name all/],
    ['postgres://one,two/db?target_session_attrs=standby', /the service writes/],
  ])('refuses %s', (url, words) => {
    expect(() => loadConfig({ DATABASE_URL: url })).toThrow(words)
  })

  it('wants a session URL only beside a database URL', () => {
    const url = 'postgres://one/db'
    expect(() => loadConfig({ HELIOGRAPH_DATABASE_SESSION_URL: url })).toThrow(/belongs to/)
    const both = { DATABASE_URL: url, HELIOGRAPH_DATABASE_SESSION_URL: url }
    expect(loadConfig(both).databaseSessionUrl).toBe(url)
  })

  it.each(['DATABASE_READ_URL', 'HELIOGRAPH_MIGRATION_DATABASE_URL'])(
    'wants %s only beside a database URL',
    (env) => {
      const url = 'postgres://one/db'
      expect(() => loadConfig({ [env]: url })).toThrow(`${env} belongs to DATABASE_URL`)
      expect(() => loadConfig({ DATABASE_URL: url, [env]: url })).not.toThrow()
    },
  )

  it('refuses plain HTTP for anything but loopback', () => {
    expect(() => loadConfig({ HELIOGRAPH_BASE_URL: 'http://trust.example.com' })).toThrow(/https/)
    expect(loadConfig({ HELIOGRAPH_BASE_URL: 'http://localhost:81' }).baseUrl).toBe(
      'http://localhost:81',
    )
  })

  it.each([
    'postgres://db:port/x',
    'postgres://a b/x',
    'http://db/x',
    'postgres://u:1#2@db/x',
    'postgres://u:1/2@db/x',
    'postgres://u:1?2@db/x',
    'postgres://u:50%ff@db/x',
    'postgres://u:p@db/x?sslmode=allow',
    'postgres://u:p@db/x?uselibpqcompat=true&sslmode=verify-ca',
    'postgres://u:p@db/x?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=',
  ])('refuses the database URL %s', (url) =>
    expect(() => loadConfig({ DATABASE_URL: url })).toThrow(/DATABASE_URL/),
  )

  it('names a file of a database URL that cannot be read, and not the password beside it', () => {
    const attempt = () =>
      loadConfig({ DATABASE_URL: 'postgres://u:hunter2@db/x?sslrootcert=/nowhere/ca.pem' })
    expect(attempt).toThrow('the file /nowhere/ca.pem of sslrootcert cannot be read (ENOENT)')
    expect(attempt).not.toThrow(/hunter2/)
  })

  it('refuses several standbys in DATABASE_READ_URL, of which none would ever answer', () => {
    const read = (url: string) =>
      loadConfig({ DATABASE_URL: 'postgres://one/x', DATABASE_READ_URL: url })
    expect(() => read('postgres://two,three/x')).toThrow(/DATABASE_READ_URL.*one server/)
    expect(() => read('postgres://two/x?target_session_attrs=standby')).not.toThrow()
  })

  it.each(['postgres://u:p%40@[::1]:5433/x?sslmode=require', 'postgresql://u@/x?host=/run/pg'])(
    'takes the database URL %s',
    (url) => expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url),
  )

  it.each([
    'proxy.example.com',
    '10.0.0.0/33',
    '10.0.0.1,',
    '::/129',
    '10.0.0.0/8/8',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1,0.0.0.0/00',
    '10.0.0.0/',
    'fe80::1%eth0',
    'loopback',
  ])('refuses the trusted proxies %s', (text) => {
    const attempt = () => loadConfig({ HELIOGRAPH_TRUSTED_PROXIES: text })
    expect(attempt).toThrow(/HELIOGRAPH_TRUSTED_PROXIES/)
  })

  it.each([
    '10.0.0.1, 192.168.0.0/16,fd00::/8',
    '0.0.0.0/1,::/1',
    '::ffff:10.0.0.1',
    '::ffff:10.0.0.0/104',
    '10.0.0.0/08',
    '::1/128',
  ])('takes the trusted proxies %s, and so does the server', (text) => {
    expect(loadConfig({ HELIOGRAPH_TRUSTED_PROXIES: text }).trustedProxies).toBe(text)
    const isTrusted = createAddressList(text.split(','))
    const [first = ''] = text.split(/[,/]/)
    expect(isTrusted(first)).toBe(true)
  })

  it.each(['*', '10.0.0.0/33', 'http://x/'])('refuses the allowed targets %s', (text) => {
    const attempt = () => loadConfig({ HELIOGRAPH_ALLOWED_TARGETS: text })
    expect(attempt).toThrow(/HELIOGRAPH_ALLOWED_TARGETS/)
  })

  it('refuses a certificate without its key, and a key that would not be read', () => {
    expect(() => loadConfig({ HELIOGRAPH_TLS_CERT: '/etc/cert.pem' })).toThrow(/belong together/)
    const key = { HELIOGRAPH_TLS_CERT: 'self-signed', HELIOGRAPH_TLS_KEY: '/etc/key.pem' }
    expect(() => loadConfig(key)).toThrow(/no file is read/)
  })

  it.each([
    ['DATABASE_URL', 'databaseUrl', 'postgres://u:hunter2@db/x'],
    ['HELIOGRAPH_MASTER_KEY', 'masterKey', Buffer.alloc(32).toString('base64')],
  ] as const)('reads %s from a file', async (env, name, text) => {
    const path = await file(`\n${text}\n`)
    expect(loadConfig({ [`${env}_FILE`]: path })[name]).toBe(text)
    expect(loadConfig({ [env]: 'postgres://other/x' }, { [`${env}_FILE`]: path })[name]).toBe(text)
    expect(loadConfig({ [`${env}_FILE`]: '' })[name]).toBeUndefined()
  })

  it('names a file that cannot be used, and never what is in it', async () => {
    const attempt = (texts: Record<string, string>) => () => loadConfig(texts)
    expect(attempt({ DATABASE_URL_FILE: '/nowhere/url' })).toThrow(
      'the file /nowhere/url of DATABASE_URL_FILE cannot be read (ENOENT)',
    )
    const empty = await file(' \n')
    expect(attempt({ DATABASE_URL_FILE: empty })).toThrow(/is empty, or too large/)
    const wrong = await file('mysql://root:hunter2@db')
    expect(attempt({ DATABASE_URL_FILE: wrong })).toThrow(/DATABASE_URL_FILE .*postgres:/)
    expect(attempt({ DATABASE_URL_FILE: wrong })).not.toThrow(/hunter2/)
    const both = { DATABASE_URL: 'postgres://db/x', DATABASE_URL_FILE: wrong }
    expect(attempt(both)).toThrow(/DATABASE_URL.*give it or DATABASE_URL_FILE, not both/)
  })

  it('tells which flags everybody on the machine can read secrets from', () => {
    const flags = {
      HELIOGRAPH_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      DATABASE_URL: 'postgres://u:hunter2@db/x',
      HELIOGRAPH_REPORTING_DATABASE_URL: 'postgres://db/x?password=hunter2',
      HELIOGRAPH_PORT: '1',
    }
    expect(findSecretFlags(flags)).toEqual([
      '--database-url',
      '--reporting-database-url',
      '--master-key',
    ])
    const open = {
      DATABASE_URL: 'postgresql://u@/x?host=/run/pg',
      HELIOGRAPH_MASTER_KEY_FILE: '/k',
    }
    expect(findSecretFlags(open)).toEqual([])
  })
})
