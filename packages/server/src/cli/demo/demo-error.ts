/** Why the demo cannot go on, in words for its user. */
export class DemoError extends Error {
  override readonly name = 'DemoError'
}
