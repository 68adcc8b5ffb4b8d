import { expect, test } from 'vitest'
import { AppError } from '../app-error.ts'
import { isAccessRefusal, toUnavailable } from './unavailable.ts'

function failure(code: string | undefined, properties: object = {}, message = 'text'): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code }, properties)
}

test.each([
  ['a server that does not listen', failure('ECONNREFUSED')],
  ['a socket that is gone', failure('ENOENT', { syscall: 'connect' })],
  ['a server that shuts down', failure('57P01')],
  ['a server that starts up', failure('57P03')],
  ['a broken connection', failure('08006')],
  ['too many connections', failure('53300')],
  ['a certificate that has expired', failure('CERT_HAS_EXPIRED')],
  ['a certificate of another host', failure('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['a password that was changed', failure('28P01')],
  ['a host that pg_hba.conf does not let in', failure('28000')],
  ['a database that was dropped', failure('3D000')],
  ['a password that is missing', failure(undefined, {}, 'SASL: client password must be a string')],
  ['a full disk', failure('53100')],
  ['a standby during a fail-over', failure('25006')],
  ['an unlogged table of a standby', failure('0A000', { routine: 'get_relation_info' })],
  ['a queue of notifications that is full', failure('54000', { routine: 'PreCommit_Notify' })],
  ['a lock that a standby does not give', failure('55000', { routine: 'LockAcquireExtended' })],
  ['a conflict that lasts', failure('40001')],
  ['a deadlock that comes again', failure('40P01')],
  ['a lock that somebody else keeps', failure('55P03')],
  ['a statement that takes too long', failure('57014')],
  ['a transaction that was ended because it idled', failure('25P03')],
  ['a disk that fails', failure('58030')],
  ['a full disk of the process', failure('ENOSPC', { syscall: 'write' })],
  ['a read-only disk of the server', failure('42501', { file: 'md.c' })],
  [
    'a pooler that takes no settings',
    failure('08P01', {}, 'unsupported startup parameter: statement_timeout'),
  ],
  ['too few file handles', failure('EMFILE', { syscall: 'connect' })],
  ['too few file handles of the server', failure('53000')],
  ['a connection that ended', failure(undefined, {}, 'Connection terminated unexpectedly')],
  ['a busy pool', failure(undefined, {}, 'timeout exceeded when trying to connect')],
])('refuses as unavailable, to be tried again: %s', (_, error) => {
  const refusal = toUnavailable(error)
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({ kind: 'unavailable', code: 'unavailable', cause: error })
  expect(refusal?.retryAfterSeconds).toBeGreaterThan(0)
})

test('says that the service is busy, not that the database is away, when no connection became free', () => {
  const busy = failure(undefined, {}, 'timeout exceeded when trying to connect')
  expect(toUnavailable(busy)?.message).toContain('busy')
  expect(toUnavailable(failure('ECONNREFUSED'))?.message).toContain('cannot be reached')
})

test.each([
  ['28P01', 'does not let the service in'],
  ['53100', 'full'],
  ['25006', 'only reads'],
  ['58030', 'fails'],
  ['53300', 'no more connections'],
  ['EMFILE', 'file handles'],
])('says of %s what is the matter: %s', (code, words) => {
  expect(toUnavailable(failure(code))?.message).toContain(words)
})

test.each([
  ['a feature that is not there', failure('0A000', { routine: 'transformStmt' })],
  ['a unique violation', failure('23505')],
  ['a missing file', failure('ENOENT', { syscall: 'open' })],
  ['a right that the role does not have', failure('42501')],
  ['a syntax error', failure('42601')],
  ['a bug', new TypeError('undefined is not a function')],
  ['not an error', 'ECONNREFUSED'],
])('leaves alone what is no matter of the connection: %s', (_, error) => {
  expect(toUnavailable(error)).toBeUndefined()
})

test.each([
  ['28P01', true],
  ['28000', true],
  ['3D000', true],
  ['42501', true],
  ['42601', false],
  ['57P03', false],
  [undefined, false],
])('tells from %s whether the server refuses the role: %s', (code, isRefused) => {
  expect(isAccessRefusal(failure(code))).toBe(isRefused)
})
