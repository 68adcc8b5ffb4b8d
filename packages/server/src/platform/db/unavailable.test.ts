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
  ['a full disk', failure('53100')],
  ['a standby during a fail-over', failure('25006')],
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
  ['a unique violation', failure('23505')],
  ['a missing file', failure('ENOENT', { syscall: 'open' })],
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
