/** Gives the Authorization header of requests to the transmitter. */
export interface AuthorizationSource {
  /** The whole value of the header, such as `Bearer abc`. */
  getAuthorization(signal?: AbortSignal): Promise<string>
  /**
   * Told that a value was answered with 401, so that the next one is another, if there can be
   * another. A value that is no longer current is ignored.
   */
  discard(authorization: string): void
}

/**
 * How requests are authorised: a fixed Authorization header (`Bearer <token>`), a function that
 * gives it for each request, or a source such as `createClientCredentials`.
 */
export type Authorization = string | (() => string | Promise<string>) | AuthorizationSource

/** Makes a source of each form of {@link Authorization}. */
export function toAuthorizationSource(authorization: Authorization): AuthorizationSource {
  if (typeof authorization === 'object') return authorization
  return {
    getAuthorization: async () =>
      typeof authorization === 'function' ? authorization() : authorization,
    discard: () => undefined,
  }
}
