/*
 * What the texts of settings may be, and what they become.
 */
import { isIP } from 'node:net'
import { z } from 'zod'
import { PROCESS_ROLES } from '../../schema/process-role.ts'

/** A whole number within bounds; `fallback` when nothing is set. */
export const integer = (min: number, max: number, fallback: number) =>
  z
    .string()
    .default(String(fallback))
    .transform((text, context) => {
      const value = Number(text.trim())
      if (/^\d+$/.test(text.trim()) && value >= min && value <= max) return value
      context.addIssue({ code: 'custom', message: `must be a whole number from ${min} to ${max}` })
      return z.NEVER
    })

/** A text, or undefined when nothing is set. */
export const optionalText = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text.trim() === '' ? undefined : text.trim()))

/**
 * An address without a path: agents are told a host name, and receivers look for the discovery document
 * of an issuer with a path at the root of its host, so that neither would find a service under a path.
 */
export const httpOrigin = optionalText.transform((text, context) => {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url !== null && isHttp && url.href.replace(/\/+$/, '') === url.origin) return url.origin
  context.addIssue({
    code: 'custom',
    message:
      'must be an http or https URL without user, path, query and fragment; give the service a host name of its own, not a path on another',
  })
  return z.NEVER
})

/** The driver takes a URL without a host too, for a socket that a parameter names. */
export const postgresUrl = optionalText.refine(
  (text) =>
    text === undefined ||
    (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@socket/'))),
  'must be a postgres:// URL, with what is special in it percent-encoded',
)

/** Addresses and CIDR ranges, separated by commas. */
export const networks = optionalText.transform((text, context) => {
  const wrong = text?.split(',').find((network) => !isNetwork(network.trim()))
  if (wrong === undefined) return text
  context.addIssue({
    code: 'custom',
    message: 'must be IP addresses or CIDR ranges, separated by commas',
  })
  return z.NEVER
})

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (bits < 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
}

/** The roles of a process, separated by commas; all by default. */
export const roles = z
  .string()
  .default(PROCESS_ROLES.join(','))
  .transform((text, context) => {
    const names = text.split(',').map((name) => name.trim())
    const known = PROCESS_ROLES.filter((role) => names.includes(role))
    if (
      known.length > 0 &&
      names.every((name) => (PROCESS_ROLES as readonly string[]).includes(name))
    ) {
      return known
    }
    context.addIssue({
      code: 'custom',
      message: `must be a comma-separated list of ${PROCESS_ROLES.join(', ')}`,
    })
    return z.NEVER
  })
