/** Where the page of an attempt is, or where one of its forms is sent to. */
export function attemptPath(id: string, action = ''): string {
  return `/sign-in/attempts/${id}${action === '' ? '' : `/${action}`}`
}
