/**
 * Whether two addresses are of one host, by the same scheme: what was given to authenticate by at one may go to the
 * other. Elsewhere it goes not: who may change an address could else have a secret sent that nobody is shown.
 */
export function isSameHost(one: string, other: string): boolean {
  const [{ protocol, hostname }, next] = [new URL(one), new URL(other)]
  return protocol === next.protocol && hostname === next.hostname
}
