import { expect, test } from 'vitest'
import { describeServerFailure, isEarlierServerInTheWay } from './server-failure.ts'

test.each([
  ['FATAL:  could not write lock file "postmaster.pid": No space left on device', /disk is full/],
  ['FATAL:  lock file "postmaster.pid" already exists', /another server process/],
  ['initdb: error: could not look up effective user ID 1234: user does not exist', /\/etc\/passwd/],
  ['FATAL:  could not open file "global/pg_control": Permission denied', /owns the data folder/],
])('says what to do about: %s', (line, remedy) => {
  expect(describeServerFailure([line])).toMatch(remedy)
  expect(describeServerFailure([line])).toContain(line)
})

test('quotes what it does not know, and admits when nothing was said', () => {
  expect(describeServerFailure(['', 'FATAL:  something new'])).toBe(
    'it said: FATAL:  something new',
  )
  expect(describeServerFailure([])).toBe('it said nothing')
})

test('waits only for a server that is going away', () => {
  expect(isEarlierServerInTheWay(['FATAL:  lock file "postmaster.pid" already exists'])).toBe(true)
  expect(
    isEarlierServerInTheWay(['FATAL:  pre-existing shared memory block (key 1) is still in use']),
  ).toBe(true)
  expect(isEarlierServerInTheWay(['FATAL:  No space left on device'])).toBe(false)
})
