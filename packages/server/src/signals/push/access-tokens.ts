/*
 * The access tokens of this process for its receivers: each is asked for once, however many pushes wait
 * for it, and kept until shortly before it expires.
 */
import { isStillAhead, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { OAuthCredential } from './push-credential.ts'
import { requestToken, type TokenAnswer, type TokenRequestDependencies } from './request-token.ts'

export interface AccessTokensDependencies extends TokenRequestDependencies {
  readonly clock: Clock
}

interface KeptToken {
  readonly answer: Promise<TokenAnswer>
  readonly askedAtMs: number
  /** When it is not used any more, and for how long it is; unknown while it is asked for. */
  endsAtMs: number
  usableMs: number
  value: string | undefined
}

/** A token is not used in its last tenth, or its last half minute if that is shorter. */
const RESERVE_SHARE = 0.1
const RESERVE_MAX_MS = 30 * SECOND_MS
/** A refusal is not asked for again before this time: receivers share their token endpoints. */
const REFUSAL_KEPT_MS = 5 * SECOND_MS
const RENEWAL_INTERVAL_MIN_MS = 10 * SECOND_MS
/** Streams with credentials, far more than a service may have streams; the oldest go first. */
const KEPT_MAX = 10_000

export class AccessTokens {
  readonly #deps: AccessTokensDependencies
  readonly #kept = new Map<string, KeptToken>()

  constructor(dependencies: AccessTokensDependencies) {
    this.#deps = dependencies
  }

  /** A token that is valid for a moment still; `timeoutMs` bounds the wait for a new one. */
  get(credential: OAuthCredential, timeoutMs: number): Promise<TokenAnswer> {
    const known = this.#kept.get(credential.key)
    return known !== undefined && isStillAhead(known.endsAtMs, this.#nowMs(), known.usableMs)
      ? known.answer
      : this.#ask(credential, timeoutMs)
  }

  /**
   * A receiver has refused the token: the next `get` asks for another one. Answers false for a token
   * that is so new that another one would fare no better.
   */
  discard({ key }: OAuthCredential, value: string): boolean {
    const known = this.#kept.get(key)
    // Another one has been asked for already.
    if (known === undefined || known.value !== value) return true
    const renewableAtMs = known.askedAtMs + RENEWAL_INTERVAL_MIN_MS
    if (isStillAhead(renewableAtMs, this.#nowMs(), RENEWAL_INTERVAL_MIN_MS)) return false
    this.#kept.delete(key)
    return true
  }

  #ask(credential: OAuthCredential, timeoutMs: number): Promise<TokenAnswer> {
    const { key } = credential
    if (this.#kept.size >= KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value ?? '')
    const token: KeptToken = {
      answer: requestToken(credential, timeoutMs, this.#deps),
      askedAtMs: this.#nowMs(),
      endsAtMs: Infinity,
      usableMs: Infinity,
      value: undefined,
    }
    this.#kept.delete(key)
    this.#kept.set(key, token)
    void token.answer.then(
      (answer) => {
        token.usableMs = usableMs(answer)
        token.endsAtMs = this.#nowMs() + token.usableMs
        if (answer.kind === 'token') token.value = answer.value
      },
      () => {
        token.endsAtMs = 0
      },
    )
    return token.answer
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime()
  }
}

function usableMs(answer: TokenAnswer): number {
  if (answer.kind === 'refused') return REFUSAL_KEPT_MS
  return answer.lifetimeMs - Math.min(answer.lifetimeMs * RESERVE_SHARE, RESERVE_MAX_MS)
}
