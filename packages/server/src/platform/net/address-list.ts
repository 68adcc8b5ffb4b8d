import { BlockList, isIP } from 'node:net'

/** Whether an address is one of a list; an IPv4 address is the same when IPv6 carries it. */
export type AddressList = (address: string | undefined) => boolean

/** The IPv4 addresses, as IPv6 carries them or not. RFC 4291 section 2.5.5.2. */
const IPV4 = new BlockList()
const IPV4_PREFIX = 96
IPV4.addSubnet('::ffff:0:0', IPV4_PREFIX, 'ipv6')

/**
 * Addresses and CIDR ranges as a list; of nothing, nobody is in it. What is no address is in no list, and no IPv4
 * address in a range of IPv6 that is wider than all of those.
 */
export function createAddressList(networks: readonly string[]): AddressList {
  const ofIpv4 = new BlockList()
  const ofIpv6 = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.trim().split('/')
    const family = familyOf(address)
    if (family === undefined) throw new RangeError(`${network} is no address`)
    const isWider = family === 'ipv6' && Number(prefix ?? Infinity) < IPV4_PREFIX
    const list = IPV4.check(address, family) && !isWider ? ofIpv4 : ofIpv6
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address = '') => {
    const family = familyOf(address)
    if (family === undefined) return false
    return (IPV4.check(address, family) ? ofIpv4 : ofIpv6).check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}
