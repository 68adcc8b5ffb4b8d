/** What a TLS server presents: the shape shared by given and self-signed certificates. */

export interface TlsMaterial {
  /** Private key, PEM. */
  readonly key: string
  /** Certificate, and intermediates where there are any, PEM. */
  readonly cert: string
}
