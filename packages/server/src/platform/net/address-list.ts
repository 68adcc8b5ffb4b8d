import { BlockList, isIP } from 'node:net'

/** Whether an address is one of a list; an IPv4 address is the same when IPv6 carries it. */
export type AddressList = (address: string | undefined) => boolean

/** Addresses and CIDR ranges as a list; of nothing, nobody is in it. What is no address is in no list. */
export function createAddressList(networks: readonly string[]): AddressList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.trim().split('/')
    const family = familyOf(address)
    if (family === undefined) throw new RangeError(`${network} is no address`)
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address = '') => {
    const family = familyOf(address)
    return family !== undefined && list.check(address, family)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}
