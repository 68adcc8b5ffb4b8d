/**
 * Judges IP addresses: which ones the public Internet routes, and why the others are not public. Knows no
 * names, no URLs and no allow-list. The ranges are those of the IANA special-purpose address registries.
 */
import { BlockList, isIP } from 'node:net'

/** Why an address is not public; the word fits into 'the address x is ...'. */
export type AddressKind =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'shared'
  | 'unspecified'
  | 'multicast'
  | 'reserved'
  | 'documentation'
  | 'transitional'
  | 'malformed'

type Range = readonly [network: string, prefixBits: number, kind: AddressKind]

const IPV4_RANGES: readonly Range[] = [
  ['0.0.0.0', 8, 'unspecified'], // this network, RFC 791 section 3.2
  ['10.0.0.0', 8, 'private'], // RFC 1918
  ['100.64.0.0', 10, 'shared'], // carrier-grade NAT, RFC 6598
  ['127.0.0.0', 8, 'loopback'], // RFC 1122 section 3.2.1.3
  ['168.63.129.16', 32, 'link-local'], // the host agent of a large cloud; a public number that is routed locally
  ['169.254.0.0', 16, 'link-local'], // RFC 3927; instance metadata services
  ['172.16.0.0', 12, 'private'], // RFC 1918
  ['192.0.0.0', 24, 'reserved'], // IETF protocol assignments, RFC 6890 section 2.1
  ['192.0.2.0', 24, 'documentation'], // TEST-NET-1, RFC 5737
  ['192.31.196.0', 24, 'reserved'], // AS112, RFC 7535
  ['192.52.193.0', 24, 'reserved'], // AMT, RFC 7450
  ['192.88.99.0', 24, 'transitional'], // 6to4 relay anycast, RFC 7526
  ['192.168.0.0', 16, 'private'], // RFC 1918
  ['192.175.48.0', 24, 'reserved'], // direct delegation AS112, RFC 7534
  ['198.18.0.0', 15, 'reserved'], // benchmarking, RFC 2544
  ['198.51.100.0', 24, 'documentation'], // TEST-NET-2, RFC 5737
  ['203.0.113.0', 24, 'documentation'], // TEST-NET-3, RFC 5737
  ['224.0.0.0', 4, 'multicast'], // RFC 1112
  ['240.0.0.0', 4, 'reserved'], // RFC 1112 section 4; holds limited broadcast, RFC 8190
]

const IPV6_RANGES: readonly Range[] = [
  ['::', 128, 'unspecified'], // RFC 4291 section 2.5.2
  ['::1', 128, 'loopback'], // RFC 4291 section 2.5.3
  ['::', 96, 'transitional'], // IPv4-compatible, RFC 4291 section 2.5.5.1
  ['64:ff9b:1::', 48, 'transitional'], // local-use NAT64, RFC 8215
  ['100::', 64, 'reserved'], // discard-only, RFC 6666
  ['100:0:0:1::', 64, 'reserved'], // dummy prefix, RFC 9780
  ['2001::', 32, 'transitional'], // Teredo, RFC 4380
  ['2001:db8::', 32, 'documentation'], // RFC 3849
  ['2001::', 23, 'reserved'], // IETF protocol assignments, RFC 2928
  ['2002::', 16, 'transitional'], // 6to4, RFC 3056
  ['2620:4f:8000::', 48, 'reserved'], // direct delegation AS112, RFC 7534
  ['3fff::', 20, 'documentation'], // RFC 9637
  ['5f00::', 16, 'reserved'], // segment routing identifiers, RFC 9602
  ['fc00::', 7, 'private'], // unique local, RFC 4193
  ['fe80::', 10, 'link-local'], // RFC 4291 section 2.5.6
  ['fec0::', 10, 'private'], // site-local, RFC 3879
  ['ff00::', 8, 'multicast'], // RFC 4291 section 2.7
]

const ipv4Lists = toBlockLists(IPV4_RANGES, 'ipv4')
const ipv6Lists = toBlockLists(IPV6_RANGES, 'ipv6')

/** Only this part of IPv6 is assigned to global unicast (RFC 4291 section 2.4, IANA IPv6 address space). */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * True for an address that the public Internet routes. IPv4-mapped (RFC 4291 section 2.5.5.2) and NAT64
 * (RFC 6052 section 2.1) addresses are judged by the IPv4 address inside; everything that is not a plain IP
 * address, zone identifiers included, is false.
 */
export function isPublicAddress(address: string): boolean {
  return classifyAddress(address) === 'public'
}

/** Says what sort of address it is; see `isPublicAddress` for how embedded IPv4 addresses are judged. */
export function classifyAddress(address: string): AddressKind {
  switch (address.includes('%') ? 0 : isIP(address)) {
    case 4:
      return findKind(ipv4Lists, address, 'ipv4') ?? 'public'
    case 6: {
      const embedded = unwrapIpv4(address)
      if (embedded !== undefined) return classifyAddress(embedded)
      const kind = findKind(ipv6Lists, address, 'ipv6')
      return kind ?? (globalUnicast.check(address, 'ipv6') ? 'public' : 'reserved')
    }
    default:
      return 'malformed'
  }
}

/** The IPv4 address inside an IPv4-mapped or well-known-prefix NAT64 address, in dotted form. */
export function unwrapIpv4(address: string): string | undefined {
  const groups = parseIpv6Groups(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  const isNat64 =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  const [high, low] = groups.slice(6)
  if (!(isMapped || isNat64) || high === undefined || low === undefined) return undefined
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight 16-bit groups of a valid IPv6 address without zone. */
function parseIpv6Groups(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = parseGroups(head)
  if (tail === undefined) return before
  const after = parseGroups(tail)
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function parseGroups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
    return [(a << 8) | b, (c << 8) | d]
  })
}

function toBlockLists(
  ranges: readonly Range[],
  family: 'ipv4' | 'ipv6',
): [AddressKind, BlockList][] {
  return ranges.map(([network, prefixBits, kind]) => {
    const list = new BlockList()
    list.addSubnet(network, prefixBits, family)
    return [kind, list]
  })
}

function findKind(
  lists: readonly (readonly [AddressKind, BlockList])[],
  address: string,
  family: 'ipv4' | 'ipv6',
): AddressKind | undefined {
  return lists.find(([, list]) => list.check(address, family))?.[0]
}
