/* An authenticator app for tests: it gives the codes of the keys that it was told. */
import { Secret, TOTP } from 'otpauth'
import type { Clock } from '../../src/platform/clock.ts'

const STEP_MS = 30_000

export class AuthenticatorApp {
  readonly #totp: TOTP
  readonly #clock: Clock

  /** Told a key by typing it. */
  constructor(key: string, clock: Clock) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(key) })
    this.#clock = clock
  }

  /** The code that it shows; so many steps later or, below zero, earlier. */
  code(stepsLater = 0): string {
    return this.#totp.generate({ timestamp: this.#clock.now().getTime() + stepsLater * STEP_MS })
  }

  /** A code of no step around now. */
  wrongCode(): string {
    const near = new Set([-1, 0, 1].map((steps) => this.code(steps)))
    return ['000000', '111111', '222222', '333333'].find((code) => !near.has(code)) ?? ''
  }
}
