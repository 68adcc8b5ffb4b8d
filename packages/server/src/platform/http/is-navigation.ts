import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a browser asks for a page to show. Fetch Metadata Request Headers (W3C); browsers of before 2023 say it by
 * what they accept.
 */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return headers.upgrade === undefined && headers.accept?.includes('text/html') === true
}
