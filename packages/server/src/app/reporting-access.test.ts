import { describe, expect, it } from 'vitest'
import { parseMasterKeys } from '../platform/secrets/master-key.ts'
import { loadConfig } from './config/load-config.ts'
import { toReportingAccess } from './reporting-access.ts'

const KEYS = parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test')

describe('the access of reporting queries', () => {
  it('is the role of the embedded database', () => {
    const connection = { host: '/run/x', port: 5432, user: 'heliograph', database: 'heliograph' }
    expect(toReportingAccess({ reportingDatabaseUrl: undefined }, connection, KEYS)).toEqual({
      connection: { ...connection, user: 'heliograph_reporting' },
      role: 'heliograph_reporting',
      ownPassword: undefined,
    })
  })

  it('is the role of its own setting', () => {
    const url = 'postgres://reader:word@db.example.com/trust?sslmode=verify-full'
    expect(
      toReportingAccess({ reportingDatabaseUrl: url }, { url: 'postgres://db/trust' }, KEYS),
    ).toEqual({ connection: { url }, role: 'reader', ownPassword: undefined })
  })

  it.each([
    [
      'postgres://main:word@db.example.com:5433/trust?sslmode=require',
      '@db.example.com:5433/trust?sslmode=require',
    ],
    ['postgresql://db.example.com/trust', '@db.example.com/trust'],
    ['postgresql://main@/trust?host=/run/x', '@/trust?host=/run/x'],
  ])('is a role of the same database that the service makes: %s', (url, rest) => {
    const access = toReportingAccess({ reportingDatabaseUrl: undefined }, { url }, KEYS)
    expect(access.role).toBe('trust_reporting')
    expect(access.ownPassword).toMatch(/^[0-9a-f]{64}$/)
    const scheme = url.slice(0, url.indexOf('//') + 2)
    expect(access.connection).toEqual({
      url: `${scheme}trust_reporting:${access.ownPassword ?? ''}${rest}`,
    })
  })

  it('has no setting of its own beside the embedded database', () => {
    const environment = { HELIOGRAPH_REPORTING_DATABASE_URL: 'postgres://reader@db/trust' }
    expect(() => loadConfig(environment)).toThrow(/belongs to DATABASE_URL/)
  })
})
