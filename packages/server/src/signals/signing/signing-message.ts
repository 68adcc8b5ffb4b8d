/** Gives a thread a private key as PKCS #8 PEM. */
export interface KeyCommand {
  readonly type: 'key'
  readonly kid: string
  readonly privateKeyPem: string
}

/** Asks a thread for the tokens of payloads, in order. */
export interface SignCommand {
  readonly type: 'sign'
  readonly batch: number
  readonly kid: string
  readonly payloads: readonly string[]
}

/** What a thread of the signing pool is told. */
export type SigningCommand = KeyCommand | SignCommand

/** What a thread of the signing pool answers. */
export type SigningAnswer =
  | { readonly type: 'signed'; readonly batch: number; readonly tokens: readonly string[] }
  | { readonly type: 'failed'; readonly batch: number; readonly message: string }
