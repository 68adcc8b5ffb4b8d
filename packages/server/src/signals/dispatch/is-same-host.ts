/**
 * Whether an address is of the host of the one before, whatever its port, and reached no less safely: what was given to
 * authenticate by may go there too. Elsewhere it goes not: who may change an address could else have a secret sent that
 * nobody is shown.
 */
export function isSameHost(before: string, after: string): boolean {
  const [{ protocol, hostname }, next] = [new URL(before), new URL(after)]
  return hostname === next.hostname && [protocol, 'https:'].includes(next.protocol)
}
