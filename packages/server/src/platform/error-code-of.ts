/** The `code` of an error of Node.js, PostgreSQL or a library; an empty text when it has none. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}
