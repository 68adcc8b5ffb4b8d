/** The TLS identity of a request cannot be used; `message` is public. */
export class TlsIdentityError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'The client certificate cannot be used', {
      cause,
    })
    this.name = 'TlsIdentityError'
  }
}
