import { expect, it } from 'vitest'
import { addressBucket } from './address-bucket.ts'

it.each([
  ['203.0.113.7', 'address:203.0.113.7'],
  ['::ffff:203.0.113.7', 'address:203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', 'address:2001:db8:1:2::/64'],
  ['2001:0db8::1', 'address:2001:db8:0:0::/64'],
  ['::1', 'address:0:0:0:0::/64'],
  ['fe80::1%eth0', 'address:fe80:0:0:0::/64'],
])('counts what comes from %s in %s', (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket)
})
