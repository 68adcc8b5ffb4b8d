import ipaddr from 'ipaddr.js'

/**
 * The bucket of what comes from an address. Of an IPv6 address the first 64 bits count:
 * the rest is free for its owner to choose.
 */
export function addressBucket(address: string): string {
  if (!ipaddr.isValid(address)) return `address:${address}`
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return `address:${parsed.toString()}`
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `address:${network.join(':')}::/64`
}
