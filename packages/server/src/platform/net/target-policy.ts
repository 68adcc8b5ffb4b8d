/**
 * Decides which URLs and addresses an outbound request may go to: public HTTPS on the usual ports, and what
 * the operator allow-lists. Pure: it resolves no names and opens no connections.
 */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { classifyAddress, unwrapIpv4 } from './address-ranges.ts'

/** The operator's allow-list (`HELIOGRAPH_ALLOWED_TARGETS`), ready to be asked. */
export interface TargetPolicy {
  /** True when the host name or IP literal may be called at this port although private, plain HTTP or unusual. */
  isHostAllowed(host: string, port: number): boolean
  /** True when the address may be connected to at this port although it is not public. */
  isAddressAllowed(address: string, port: number): boolean
}

export type AllowedTargets =
  | { readonly ok: true; readonly policy: TargetPolicy }
  | { readonly ok: false; readonly reason: string }

/** `reason` is a sentence that may be shown to whoever gave the URL. */
export type TargetCheck =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: string }

interface NameEntry {
  /** The name itself, or `.example.com` for everything below `example.com`. */
  readonly name: string
  readonly port: number | undefined
}

interface AddressEntry {
  readonly ranges: BlockList
  readonly port: number | undefined
}

const URL_LENGTH_MAX = 2_048
const PUBLIC_PORTS: ReadonlySet<number> = new Set([443, 8443])
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Names that only mean something inside a network (RFC 6761, 6762, 7686, 8375, ICANN `.internal`, common use). */
const INTERNAL_SUFFIXES: readonly string[] = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'onion',
  'invalid',
]

/**
 * Reads the comma-separated allow-list: host names, `*.example.com`, IP addresses and CIDR ranges; all but
 * ranges may carry a port (`[::1]:8080` for IPv6). `reason` names every entry that is not understood.
 */
export function parseAllowedTargets(text: string): AllowedTargets {
  const names: NameEntry[] = []
  const addresses: AddressEntry[] = []
  const rejected: string[] = []
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const parsed = parseRange(entry) ?? parseHostEntry(entry)
    if (parsed === undefined) rejected.push(entry)
    else if ('name' in parsed) names.push(parsed)
    else addresses.push(parsed)
  }
  if (rejected.length > 0) {
    return {
      ok: false,
      reason: `Not a host name, host:port, IP address or CIDR range: ${rejected.map((entry) => `"${entry}"`).join(', ')}`,
    }
  }
  return { ok: true, policy: toPolicy(names, addresses) }
}

/** One address of every kind that is not public, and one that is; those of IPv6 after those of IPv4. */
const ADDRESSES_OF_EVERY_KIND: readonly (readonly string[])[] = [
  ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.0.1', '203.0.113.1', '223.0.0.1'],
  ['::1', 'fe80::1', 'fd00::1', '2001:db8::1', '2600::1'],
]

/** Whether an allow-list leaves nothing to refuse: every address of IPv4 or of IPv6 may be called. */
export function allowsEveryAddress(policy: TargetPolicy): boolean {
  return ADDRESSES_OF_EVERY_KIND.some((addresses) =>
    addresses.every((address) => policy.isAddressAllowed(address, 443)),
  )
}

/**
 * Checks a URL before it is stored and before it is called. The answered URL is normalised: one trailing dot
 * of the host is gone, international names are in their ASCII form, IP literals in their standard spelling.
 * Names are not resolved here; the guarded client judges every address when it connects.
 */
export function checkTargetUrl(text: string, policy: TargetPolicy): TargetCheck {
  if (text.length > URL_LENGTH_MAX)
    return refuse(`The URL is longer than ${URL_LENGTH_MAX} characters`)
  if (!URL.canParse(text)) return refuse('The URL is not a well-formed absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return refuse('The URL must begin with https://')
  if (url.username !== '' || url.password !== '') {
    return refuse(
      'The URL must not carry a user name or password; use the authorization header setting',
    )
  }
  if (text.includes('#')) return refuse('The URL must not have a fragment (#...)')
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  return checkHost(url, policy)
}

/** The port that the URL is called at. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}

/** The host name or bare IP address of the URL: IPv6 without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

function checkHost(url: URL, policy: TargetPolicy): TargetCheck {
  const host = hostOf(url)
  const port = portOf(url)
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return refuse(`"${host}" is not a valid host name`)
  if (policy.isHostAllowed(host, port)) return { ok: true, url }
  if (url.protocol !== 'https:') {
    return refuse(
      `The URL must begin with https://; plain HTTP is only possible to hosts that the operator allow-lists`,
    )
  }
  if (isIP(host) !== 0) {
    const kind = classifyAddress(host)
    if (kind !== 'public') return refuse(`The address ${host} is ${kind} and not allow-listed`)
  } else if (isInternalName(host)) {
    return refuse(`The name ${host} is internal and not allow-listed`)
  }
  if (!PUBLIC_PORTS.has(port)) {
    return refuse(
      `Port ${port} is not allowed; use ${[...PUBLIC_PORTS].join(' or ')}, or a host that the operator allow-lists`,
    )
  }
  return { ok: true, url }
}

function isInternalName(name: string): boolean {
  if (!name.includes('.')) return true
  return INTERNAL_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`) || name === suffix)
}

function refuse(reason: string): TargetCheck {
  return { ok: false, reason }
}

function parseRange(entry: string): AddressEntry | undefined {
  const [network = '', prefix, ...rest] = entry.split('/')
  const family = isIP(network)
  if (prefix === undefined || rest.length > 0 || family === 0 || network.includes('%'))
    return undefined
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 4 ? 32 : 128)) return undefined
  const ranges = new BlockList()
  ranges.addSubnet(network, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  return { ranges, port: undefined }
}

function parseHostEntry(entry: string): NameEntry | AddressEntry | undefined {
  const bare = isIP(entry) === 6 ? `[${entry}]` : entry
  const wildcard = bare.startsWith('*.') ? bare.slice(2) : bare
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:/?#@[\]\\\s]+)(?::(\d{1,5}))?$/.exec(wildcard)
  if (match === null || !URL.canParse(`https://${wildcard}/`)) return undefined
  const host = hostOf(new URL(`https://${match[1] ?? ''}/`)).replace(/\.$/, '')
  const port = match[2] === undefined ? undefined : Number(match[2])
  const family = isIP(host)
  if (family !== 0) {
    if (wildcard !== bare) return undefined
    const plain = family === 6 ? (unwrapIpv4(host) ?? host) : host
    const ranges = new BlockList()
    ranges.addAddress(plain, isIPv4(plain) ? 'ipv4' : 'ipv6')
    return { ranges, port }
  }
  if (!HOST_NAME.test(host)) return undefined
  return { name: wildcard === bare ? host : `.${host}`, port }
}

function toPolicy(names: readonly NameEntry[], addresses: readonly AddressEntry[]): TargetPolicy {
  const isPort = (allowed: number | undefined, port: number): boolean =>
    allowed === undefined || allowed === port
  const isName = (allowed: string, host: string): boolean =>
    allowed.startsWith('.') ? host.endsWith(allowed) : host === allowed
  const isAddressAllowed = (address: string, port: number): boolean => {
    const plain = isIPv4(address) ? address : (unwrapIpv4(address) ?? address)
    const family = isIPv4(plain) ? 'ipv4' : 'ipv6'
    return addresses.some((entry) => isPort(entry.port, port) && entry.ranges.check(plain, family))
  }
  return {
    isAddressAllowed,
    isHostAllowed(host, port) {
      if (isIP(host) !== 0) return isAddressAllowed(host, port)
      return names.some((entry) => isPort(entry.port, port) && isName(entry.name, host))
    },
  }
}
