import { expect, test } from 'vitest'
import { createAddressList } from './address-list.ts'

test.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:a01:203', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '::10.0.0.1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['::ffff:10.0.0.0/104', '11.1.2.3', false],
  ['2001:db8::/32', '2001:db8::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['::/1', '2001:db8::1', true],
  ['::/1', '10.1.2.3', false],
  ['::/1', '::ffff:10.1.2.3', false],
  ['::ffff:0.0.0.0/95', '10.1.2.3', false],
  ['127.0.0.1', '::1', false],
  ['10.0.0.0/8', '10.1', false],
  ['10.0.0.0/8', 'nobody', false],
  ['10.0.0.0/8', undefined, false],
])('in a list of %s, that %s is in it is %s', (network, address, isIn) => {
  expect(createAddressList(['192.0.2.1', ` ${network}`])(address)).toBe(isIn)
})

test('in a list of nothing is nobody, and what is no address makes none', () => {
  expect(createAddressList([])('10.0.0.1')).toBe(false)
  expect(() => createAddressList(['loopback'])).toThrow(RangeError)
})
