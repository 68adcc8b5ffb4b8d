/*
 * Settings that are the URL of a database: what of it the driver would misread, or find out about only when it
 * connects, is told with all other problems of the configuration. Never names what may be a secret.
 */
import { accessSync, constants } from 'node:fs'
import { splitHosts, splitParameters } from '../../platform/db/server-hosts.ts'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import { checkedText, SettingProblem } from './setting-values.ts'

const FORM =
  'must be a postgres:// URL, with what is special in it percent-encoded; of several servers name all, as in postgres://user:password@one:5432,two:5432/heliograph'

/** Those of libpq that do not do without TLS silently, and `no-verify` of node-postgres. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/**
 * The driver takes a URL without a host too, for a socket that a parameter names. Of several hosts the one that
 * takes writes is used.
 */
export const postgresUrl = checkedText((text) => {
  assertForm(text)
  assertParameters(text)
  const wanted = splitParameters(text).parameters.get('target_session_attrs') ?? 'read-write'
  if (['any', 'primary', 'read-write'].includes(wanted)) return text
  throw new SettingProblem('target_session_attrs can only be read-write: the service writes')
})

/** A standby is asked on the connection that answers: of several the driver would not find one that is behind. */
export const standbyUrl = checkedText((text) => {
  assertForm(text)
  assertParameters(text)
  if (splitHosts(text).length === 1) return text
  throw new SettingProblem(
    'must name one server: of several standbys let a balancer choose (in TCP mode), or give each process another one',
  )
})

function assertForm(text: string): void {
  const names = [...splitParameters(text).parameters.keys()]
  const isWhole = !names.some((name) => name.includes('@'))
  if (/^postgres(ql)?:\/\//.test(text) && isWhole && splitHosts(text).every(isReadable)) return
  throw new SettingProblem(FORM)
}

/** A `#`, `/` or `?` that is not encoded ends the password early: the rest would be taken for something else. */
function isReadable(url: string): boolean {
  const parsed = URL.parse(url.replace('@/', '@socket/'))
  if (parsed === null || parsed.hash !== '' || parsed.pathname.includes('@')) return false
  return [parsed.username, parsed.password, parsed.host, parsed.pathname].every(isDecodable)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function assertParameters(text: string): void {
  const { parameters } = splitParameters(text)
  const mode = parameters.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw new SettingProblem(`sslmode must be one of ${SSL_MODES.join(', ')}`)
  }
  const isAsLibpq = parameters.get('uselibpqcompat') === 'true'
  if (isAsLibpq && mode === 'verify-ca' && (parameters.get('sslrootcert') ?? '') === '') {
    throw new SettingProblem(
      'sslmode=verify-ca with uselibpqcompat needs the authority in sslrootcert: any name would do, of any authority',
    )
  }
  for (const name of SSL_FILES) {
    const path = parameters.get(name)
    if (path !== null && path !== '') assertFile(name, path)
  }
}

function assertFile(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new SettingProblem(`the file ${path} of ${name} cannot be read (${errorCodeOf(error)})`)
  }
}
