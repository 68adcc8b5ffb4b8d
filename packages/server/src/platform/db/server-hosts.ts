/*
 * The hosts of a PostgreSQL URL, of which there may be several, as libpq reads them (PostgreSQL, "Connection URIs").
 * Needs no driver: every command reads its settings.
 */

/**
 * One URL per host. The hosts and ports stand in the authority or in the parameters `host` and `port`; one port
 * counts for all hosts.
 */
export function splitHosts(url: string): readonly [string, ...string[]] {
  const { address, parameters } = splitParameters(url)
  const named = parameters.get('host')?.split(',') ?? []
  if (named.length > 1) {
    const ports = parameters.get('port')?.split(',') ?? []
    return mapAll(named, (host, index) => {
      const own = new URLSearchParams(parameters)
      own.set('host', host)
      const port = ports[index] ?? ports[0]
      if (port !== undefined) own.set('port', port)
      return joinParameters(address, own)
    })
  }
  const authority = /^([a-z]+:\/\/(?:[^/]*@)?)([^/]*)(.*)$/.exec(address)
  const [, before = '', hosts = '', after = ''] = authority ?? []
  if (!hosts.includes(',')) return [url]
  return mapAll(hosts.split(','), (host) => joinParameters(`${before}${host}${after}`, parameters))
}

function mapAll(
  hosts: readonly string[],
  toUrl: (host: string, index: number) => string,
): readonly [string, ...string[]] {
  const [first = '', ...others] = hosts
  return [toUrl(first, 0), ...others.map((host, index) => toUrl(host, index + 1))]
}

/** A URL without its parameters, and these. */
export function splitParameters(url: string): { address: string; parameters: URLSearchParams } {
  const at = url.indexOf('?')
  return at === -1
    ? { address: url, parameters: new URLSearchParams() }
    : { address: url.slice(0, at), parameters: new URLSearchParams(url.slice(at + 1)) }
}

/** The reverse of `splitParameters`. */
export function joinParameters(address: string, parameters: URLSearchParams): string {
  const text = parameters.toString()
  return text === '' ? address : `${address}?${text}`
}
