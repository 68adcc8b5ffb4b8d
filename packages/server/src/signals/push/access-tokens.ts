/*
 * The access tokens of this process for its receivers: each is asked for once, however many pushes wait
 * for it, and kept until shortly before it expires.
 */
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { OAuthCredential } from './push-credential.ts'
import { requestToken, type TokenAnswer, type TokenRequestDependencies } from './request-token.ts'

export interface AccessTokens {
  /** A token that is valid for a moment still; `timeoutMs` bounds the wait for a new one. */
  get(credential: OAuthCredential, timeoutMs: number): Promise<TokenAnswer>
  /**
   * A receiver has refused the token: the next `get` asks for another one. Answers false for a token
   * that is so new that another one would fare no better.
   */
  discard(credential: OAuthCredential, value: string): boolean
}

export interface AccessTokensDependencies extends TokenRequestDependencies {
  readonly clock: Clock
}

interface KeptToken {
  readonly answer: Promise<TokenAnswer>
  readonly askedAtMs: number
  /** When it is not used any more; unknown while it is asked for. */
  endsAtMs: number
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

export function createAccessTokens(dependencies: AccessTokensDependencies): AccessTokens {
  const { clock } = dependencies
  const kept = new Map<string, KeptToken>()
  const nowMs = (): number => clock.now().getTime()

  function ask(credential: OAuthCredential, timeoutMs: number): Promise<TokenAnswer> {
    if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? '')
    const token: KeptToken = {
      answer: requestToken(credential, timeoutMs, dependencies),
      askedAtMs: nowMs(),
      endsAtMs: Infinity,
      value: undefined,
    }
    kept.delete(credential.key)
    kept.set(credential.key, token)
    void token.answer.then(
      (answer) => {
        token.endsAtMs = nowMs() + usableMs(answer)
        if (answer.kind === 'token') token.value = answer.value
      },
      () => {
        token.endsAtMs = 0
      },
    )
    return token.answer
  }

  return {
    get(credential, timeoutMs) {
      const known = kept.get(credential.key)
      return known !== undefined && known.endsAtMs > nowMs()
        ? known.answer
        : ask(credential, timeoutMs)
    },
    discard(credential, value) {
      const known = kept.get(credential.key)
      // Another one has been asked for already.
      if (known === undefined || known.value !== value) return true
      if (nowMs() - known.askedAtMs < RENEWAL_INTERVAL_MIN_MS) return false
      kept.delete(credential.key)
      return true
    },
  }
}

function usableMs(answer: TokenAnswer): number {
  if (answer.kind === 'refused') return REFUSAL_KEPT_MS
  return answer.lifetimeMs - Math.min(answer.lifetimeMs * RESERVE_SHARE, RESERVE_MAX_MS)
}
