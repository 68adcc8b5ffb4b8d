/** Where a sealed value lives; it opens nowhere else. */
export interface SealContext {
  readonly table: string
  readonly column: string
  readonly id: string
}

/** Seals secrets for storage, as this part of the service needs it. */
export interface SecretSealer {
  seal(plaintext: string, context: SealContext): Buffer
  /** @throws Error when the value was sealed for another place or under another master key. */
  open(sealed: Buffer, context: SealContext): string
}
