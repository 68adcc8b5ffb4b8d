/*
 * Judges IP addresses: which ones the public Internet routes, and why the others are not public. The ranges of
 * the IANA special-purpose address registries come from ipaddr.js; what it lacks or lumps together is here.
 * Knows no names, no URLs and no allow-list.
 */
import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'

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

/** The ranges of the library that say why. What it calls by any other name, now or later, is not public either. */
const KIND_OF_RANGE: ReadonlyMap<string, AddressKind> = new Map([
  ['private', 'private'],
  ['uniqueLocal', 'private'],
  ['deprecatedSiteLocal', 'private'],
  ['loopback', 'loopback'],
  ['linkLocal', 'link-local'],
  ['carrierGradeNat', 'shared'],
  ['unspecified', 'unspecified'],
  ['multicast', 'multicast'],
  ['6to4', 'transitional'],
  ['teredo', 'transitional'],
  ['rfc6052', 'transitional'],
])

/** Ranges that the library does not know, or knows as reserved only. */
const OWN_RANGES: readonly (readonly [range: string, kind: AddressKind])[] = [
  ['168.63.129.16/32', 'link-local'], // the host agent of a large cloud; a public number that is routed locally
  ['192.0.2.0/24', 'documentation'], // TEST-NET-1, RFC 5737
  ['198.51.100.0/24', 'documentation'], // TEST-NET-2, RFC 5737
  ['203.0.113.0/24', 'documentation'], // TEST-NET-3, RFC 5737
  ['192.88.99.0/24', 'transitional'], // 6to4 relay anycast, RFC 7526
  ['::/96', 'transitional'], // IPv4-compatible, RFC 4291 section 2.5.5.1
  ['2001:db8::/32', 'documentation'], // RFC 3849
  ['3fff::/20', 'documentation'], // RFC 9637
]

const ownRanges = OWN_RANGES.map(([range, kind]) => ({ range: ipaddr.parseCIDR(range), kind }))

/** Only this part of IPv6 is assigned to global unicast (RFC 4291 section 2.4, IANA IPv6 address space). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** The well-known prefix of NAT64 (RFC 6052 section 2.1). */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * What sort of address it is; `public` for one that the public Internet routes. IPv4-mapped (RFC 4291 section
 * 2.5.5.2) and NAT64 (RFC 6052 section 2.1) addresses are judged by the IPv4 address inside; everything that
 * is not a plain IP address, zone identifiers included, is `malformed`.
 */
export function classifyAddress(address: string): AddressKind {
  // The library reads octal, hexadecimal and shortened forms too; those are no plain addresses.
  if (isIP(address) === 0 || address.includes('%')) return 'malformed'
  const embedded = unwrapIpv4(address)
  if (embedded !== undefined) return classifyAddress(embedded)
  const parsed = isIP(address) === 4 ? ipaddr.IPv4.parse(address) : parseIpv6(address)
  const range = parsed.range()
  const kind =
    KIND_OF_RANGE.get(range) ??
    ownRanges.find((own) => own.range[0].kind() === parsed.kind() && parsed.match(own.range))?.kind
  if (kind !== undefined) return kind
  const isAssigned = parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
  return range === 'unicast' && isAssigned ? 'public' : 'reserved'
}

/** The IPv4 address inside an IPv4-mapped or well-known-prefix NAT64 address, in dotted form. */
export function unwrapIpv4(address: string): string | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined
  const parsed = parseIpv6(address)
  if (!parsed.isIPv4MappedAddress() && !parsed.match(NAT64)) return undefined
  return new ipaddr.IPv4(parsed.toByteArray().slice(12)).toString()
}

/** The library takes `::1.2.3.4` for an IPv4-mapped address; the URL parser writes it without dots. */
function parseIpv6(address: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(new URL(`http://[${address}]/`).hostname.slice(1, -1))
}
