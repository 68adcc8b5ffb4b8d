import ipaddr from 'ipaddr.js'

const ADDRESS = 'address:'

/**
 * The bucket of what comes from an address. Of an IPv6 address the first 64 bits count:
 * the rest is free for its owner to choose.
 */
export function addressBucket(address: string): string {
  if (!ipaddr.isValid(address)) return `${ADDRESS}${address}`
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return `${ADDRESS}${parsed.toString()}`
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16))
  return `${ADDRESS}${network.join(':')}::/64`
}

/** Whether a bucket counts what comes from an address, alone or for one purpose. */
export function isOfAddress(bucket: string): boolean {
  return bucket.includes(ADDRESS)
}
