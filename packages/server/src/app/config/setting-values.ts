/*
 * What the texts of settings may be, what they become, and what stands in for one that is not set. Does
 * without a library of schemas: every command reads settings, and most need no schema besides.
 */
import { isIP } from 'node:net'
import { readPortRange, type PortRange } from '../../platform/net/browser-ports.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { PROCESS_ROLES } from '../../schema/process-role.ts'

/** What a setting can be. */
export interface SettingValue<Value> {
  /** How the default reads in the reference; absent when there is none. */
  readonly defaultText?: string
  /**
   * The value of a text; undefined stands for a setting that is not set.
   *
   * @throws SettingProblem for a text that is none of its values
   */
  readonly parse: (text: string | undefined) => Value
}

/** What a text of a setting must be instead. */
export class SettingProblem extends Error {
  override readonly name = 'SettingProblem'
}

/** A whole number within bounds. */
export function integer(min: number, max: number, fallback: number): SettingValue<number> {
  return {
    defaultText: `\`${fallback}\``,
    parse: (given) => {
      const text = given?.trim() ?? String(fallback)
      const value = Number(text)
      if (/^\d+$/.test(text) && value >= min && value <= max) return value
      throw new SettingProblem(`must be a whole number from ${min} to ${max}`)
    },
  }
}

/** One of these, written exactly so. */
export function choice<const Choice extends string | number>(
  choices: readonly Choice[],
  fallback: NoInfer<Choice>,
): SettingValue<Choice> {
  const expected = choices.map((each) => `"${each}"`).join(', ')
  return {
    defaultText: `\`${fallback}\``,
    parse: (given = String(fallback)) => {
      const found = choices.find((each) => String(each) === given)
      if (found !== undefined) return found
      throw new SettingProblem(`must be one of ${expected}`)
    },
  }
}

/** A text that is not empty. */
export function text(fallback: string): SettingValue<string> {
  return {
    defaultText: `\`${fallback}\``,
    parse: (given = fallback) => {
      if (given.trim() !== '') return given.trim()
      throw new SettingProblem('must not be empty')
    },
  }
}

/** A text, or undefined when nothing is set. */
export const optionalText: SettingValue<string | undefined> = {
  parse: (given) => given?.trim() || undefined,
}

/** Master keys as a text; undefined when nothing is set. What they are is not told in the words of a problem. */
export const masterKeys: SettingValue<string | undefined> = {
  parse: (given) => {
    const keys = optionalText.parse(given)
    if (keys === undefined) return undefined
    try {
      parseMasterKeys(keys, 'it')
    } catch (error) {
      throw new SettingProblem((error as Error).message)
    }
    return keys
  },
}

/** An {@link optionalText} that `check` accepts, or makes into another. */
export function checkedText(check: (text: string) => string): SettingValue<string | undefined> {
  return {
    parse: (given) => {
      const text = optionalText.parse(given)
      return text === undefined ? undefined : check(text)
    },
  }
}

/**
 * An address without a path: agents are told a host name, and receivers look for the discovery document
 * of an issuer with a path at the root of its host, so that neither would find a service under a path.
 */
export const httpOrigin = checkedText((text) => {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url !== null && isHttp && url.href.replace(/\/+$/, '') === url.origin) return url.origin
  throw new SettingProblem(
    'must be an http or https URL without user, path, query and fragment; give the service a host name of its own, not a path on another',
  )
})

/**
 * Addresses and CIDR ranges, separated by commas. Not every address: what is believed of everybody is
 * believed of nobody, and the server refuses such a range when everything else has started already.
 */
export const networks: SettingValue<string | undefined> = {
  defaultText: 'none',
  ...checkedText((text) => {
    if (text.split(',').every((network) => isNetwork(network.trim()))) return text
    throw new SettingProblem(
      'must be IP addresses or CIDR ranges, separated by commas, and none of all addresses (/0)',
    )
  }),
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (address.includes('%')) return false
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (bits < 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits
}

/** Hosts, addresses and ranges that deliveries may reach, as the guarded client reads them. */
export const targets: SettingValue<string> = {
  defaultText: 'none',
  parse: (given = '') => {
    const read = parseAllowedTargets(given)
    if (read.ok) return given
    throw new SettingProblem(read.reason)
  },
}

/** Three ports are open at a time for each person who signs in. */
const PORTS_BOUNDS = { countMin: 9, countMax: 1_000 } as const

/** Ports that browsers may open, one after another; undefined for `off`. */
export const browserPorts: SettingValue<PortRange | undefined> = {
  defaultText: '`off`',
  parse: (given = 'off') => {
    if (given.trim() === 'off') return undefined
    const read = readPortRange(given, PORTS_BOUNDS)
    if (read.ok) return read.range
    throw new SettingProblem(read.reason)
  },
}

/** Names of SQL, separated by commas and compared in lower case, or `none`. */
export function names(fallback: string): SettingValue<ReadonlySet<string>> {
  return {
    defaultText: `\`${fallback}\``,
    parse: (given = fallback) => {
      if (given.trim() === 'none') return new Set()
      const listed = given.split(',').map((name) => name.trim().toLowerCase())
      if (listed.every((name) => /^[a-z_][a-z0-9_]{0,127}$/.test(name))) return new Set(listed)
      throw new SettingProblem(
        'must be names of letters, digits and _, separated by commas, or none',
      )
    },
  }
}

/** The roles of a process, separated by commas; all by default. */
export const roles = {
  defaultText: `\`${PROCESS_ROLES.join(',')}\``,
  parse: (given = PROCESS_ROLES.join(',')) => {
    const names = given.split(',').map((name) => name.trim())
    const known = PROCESS_ROLES.filter((role) => names.includes(role))
    const isKnown = (name: string) => known.some((role) => role === name)
    if (known.length > 0 && names.every(isKnown)) return known
    throw new SettingProblem(`must be a comma-separated list of ${PROCESS_ROLES.join(', ')}`)
  },
}
