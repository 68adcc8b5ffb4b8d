/** The SQL functions that osquery adds to SQLite. */
import { createHash } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { comparePackageVersions, compareVersions } from './version-compare.ts'
import type { VersionFlavor } from './version-compare.ts'

type SqlValue = SQLInputValue
type SqlFunction = (...args: SqlValue[]) => SqlValue

const PATTERN_CHARACTERS_MAX = 512

function toText(value: SqlValue | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') return Buffer.from(value.buffer as ArrayBuffer).toString('utf8')
  return String(value)
}

function toPattern(value: SqlValue | undefined): RegExp {
  const source = toText(value)
  if (source.length > PATTERN_CHARACTERS_MAX) throw new Error('Pattern too long')
  try {
    return new RegExp(source)
  } catch {
    throw new Error(`Invalid regex: ${source}`)
  }
}

const regexMatch: SqlFunction = (text, pattern, index) => {
  if (text === null) return null
  return toPattern(pattern).exec(toText(text))?.[Number(index ?? 0)] ?? null
}

const regexSplit: SqlFunction = (text, pattern, index) => {
  if (text === null) return null
  const parts = toText(text)
    .split(toPattern(pattern))
    .filter((part) => part !== '')
  return parts[Number(index ?? 0)] ?? null
}

const split: SqlFunction = (text, tokens, index) => {
  if (text === null) return null
  const separators = new Set(toText(tokens))
  const parts: string[] = ['']
  for (const character of toText(text)) {
    if (separators.has(character)) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part !== '')[Number(index ?? 0)] ?? null
}

const versionCompare: SqlFunction = (left, right, flavor) => {
  if (left === null || right === null) return null
  const name = toText(flavor).toUpperCase()
  const order =
    name === 'ARCH' || name === 'DPKG' || name === 'RHEL'
      ? comparePackageVersions(toText(left), toText(right), name satisfies VersionFlavor)
      : compareVersions(toText(left), toText(right))
  return BigInt(order)
}

const inetAton: SqlFunction = (text) => {
  const address = toText(text ?? null)
  if (isIP(address) !== 4) return null
  return BigInt(address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0))
}

const inCidrBlock: SqlFunction = (block, address) => {
  const [network = '', prefix = ''] = toText(block).split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(network) === 0 || isIP(toText(address)) !== (family === 'ipv6' ? 6 : 4)) return 0
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), family)
  return list.check(toText(address), family) ? 1n : 0n
}

function digest(algorithm: 'md5' | 'sha1' | 'sha256'): SqlFunction {
  return (text) => {
    if (text === null) return null
    return createHash(algorithm).update(toText(text)).digest('hex')
  }
}

function math(calculate: (value: number) => number): SqlFunction {
  return (value) => (value === null ? null : calculate(Number(value)))
}

function decodeBase64(text: string): string {
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0
  return isBase64 ? Buffer.from(text, 'base64').toString('utf8') : ''
}

function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function isAscii(text: string): boolean {
  return [...text].every((character) => (character.codePointAt(0) ?? 0) < 128)
}

const FUNCTIONS: Readonly<Record<string, SqlFunction>> = {
  regex_match: regexMatch,
  regex_split: regexSplit,
  split,
  version_compare: versionCompare,
  inet_aton: inetAton,
  in_cidr_block: inCidrBlock,
  md5: digest('md5'),
  sha1: digest('sha1'),
  sha256: digest('sha256'),
  to_base64: (text) => (text === null ? null : encodeBase64(toText(text))),
  from_base64: (text) => (text === null ? null : decodeBase64(toText(text))),
  conditional_to_base64: (text) => {
    if (text === null) return null
    return isAscii(toText(text)) ? toText(text) : encodeBase64(toText(text))
  },
  // osquery's log is the natural logarithm, SQLite's own has base ten.
  log: math(Math.log),
  cot: math((value) => 1 / Math.tan(value)),
}

/** Adds osquery's functions to a database; those that SQLite has itself (concat, sqrt) are not touched. */
export function registerOsqueryFunctions(database: DatabaseSync): void {
  for (const [name, sqlFunction] of Object.entries(FUNCTIONS)) {
    database.function(name, { deterministic: true, varargs: true }, sqlFunction)
  }
}
