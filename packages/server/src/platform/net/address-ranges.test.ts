import { describe, expect, it } from 'vitest'
import { classifyAddress, unwrapIpv4 } from './address-ranges.ts'

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.3.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
]

const NOT_PUBLIC: readonly [string, string][] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'shared'],
  ['100.100.100.200', 'shared'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'transitional'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'reserved'],
  ['198.19.255.255', 'reserved'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::7f00:1', 'transitional'],
  ['::127.0.0.1', 'transitional'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['0:0:0:0:0:ffff:a9fe:a9fe', 'link-local'],
  ['::ffff:10.1.2.3', 'private'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::169.254.169.254', 'link-local'],
  ['64:ff9b:1::a00:1', 'transitional'],
  ['100::1', 'reserved'],
  ['2001::1', 'transitional'],
  ['2001:0:7f00:1::', 'transitional'],
  ['2001:20::1', 'reserved'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', 'transitional'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
]

const MALFORMED = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  'fe80::1%eth0',
  '[::1]',
  '1.2.3.4.5',
]

describe('classifyAddress', () => {
  it.each(PUBLIC)('accepts %s', (address) => {
    expect(classifyAddress(address)).toBe('public')
  })

  it.each(NOT_PUBLIC)('refuses %s as %s', (address, kind) => {
    expect(classifyAddress(address)).toBe(kind)
  })

  it.each(MALFORMED)('refuses %j, which is no plain IP address', (address) => {
    expect(classifyAddress(address)).toBe('malformed')
  })
})

describe('unwrapIpv4', () => {
  it('answers nothing for addresses that carry no IPv4 address', () => {
    expect(unwrapIpv4('2606:4700::1111')).toBeUndefined()
    expect(unwrapIpv4('::1')).toBeUndefined()
    expect(unwrapIpv4('64:ff9b:1::1.2.3.4')).toBeUndefined()
  })
})
