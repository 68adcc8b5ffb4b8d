import { expect, test, vi } from 'vitest'
import { roleOf, toClientConfig, withRole } from './connection.ts'
import { DatabaseClient } from './database-client.ts'

test.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
  'sslmode=%s checks the certificate of the database and its name, without a warning beside the log',
  (mode) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const config = toClientConfig({ url: `postgres://u:p%40@one/db?sslmode=${mode}` })
    const { ssl, password } = new DatabaseClient(config)
    expect(warn).not.toHaveBeenCalled()
    expect(ssl).toEqual({})
    expect(password).toBe('p@')
    warn.mockRestore()
  },
)

test('sslmode=no-verify checks nothing, and disable does without TLS', () => {
  const sslOf = (mode: string) =>
    new DatabaseClient(toClientConfig({ url: `postgres://one/db?sslmode=${mode}` })).ssl
  expect(sslOf('no-verify')).toEqual({ rejectUnauthorized: false })
  expect(sslOf('disable')).toBe(false)
})

test('another role takes the place of the whole former one, whatever its password is', () => {
  const { url } = withRole({ url: 'postgres://u:a@b@one/db' }, 'other', 's/1')
  expect(url).toBe('postgres://other:s%2F1@one/db')
  expect(roleOf({ url })).toBe('other')
})
