import { expect, test } from 'vitest'
import { splitHosts } from './server-hosts.ts'

test.each([
  ['postgres://u:p@one/db', ['postgres://u:p@one/db']],
  [
    'postgres://u@localhost/db?host=/socket&port=5433',
    ['postgres://u@localhost/db?host=/socket&port=5433'],
  ],
  [
    'postgres://u:p@one:5432,two:5433/db?sslmode=disable',
    ['postgres://u:p@one:5432/db?sslmode=disable', 'postgres://u:p@two:5433/db?sslmode=disable'],
  ],
  ['postgres://one,two', ['postgres://one', 'postgres://two']],
  ['postgres://u@[::1]:5432,[::2]/db', ['postgres://u@[::1]:5432/db', 'postgres://u@[::2]/db']],
  [
    'postgres:///db?host=one,two&port=5432,5433',
    ['postgres:///db?host=one&port=5432', 'postgres:///db?host=two&port=5433'],
  ],
  [
    'postgres:///db?host=one,two&port=5432',
    ['postgres:///db?host=one&port=5432', 'postgres:///db?host=two&port=5432'],
  ],
  ['postgres://u:a,b@one/db', ['postgres://u:a,b@one/db']],
  ['postgres://u:a@b@one,two/db', ['postgres://u:a@b@one/db', 'postgres://u:a@b@two/db']],
])('reads the hosts of %s', (url, expected) => {
  expect(splitHosts(url)).toEqual(expected)
})
