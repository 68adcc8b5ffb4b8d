/*
 * What an application says a sign-in must come to: read when it begins, and looked at before anything is granted. The
 * library would refuse the outcome only after that.
 */
import type {
  Assurance,
  AttemptInteraction,
  EssentialClaims,
} from '../../schema/tables/sign-in-tables.ts'
import { ACR_OF } from './session-claims.ts'

interface ClaimRequest {
  readonly essential?: unknown
  readonly value?: unknown
  readonly values?: unknown
}

/**
 * The demands of a request that the library has taken: an essential `acr`, a `sub`, and the person of an ID token.
 *
 * @returns undefined where nothing is demanded
 */
export function readEssentialClaims(
  claims: unknown,
  hintedPersonId: string | undefined,
): EssentialClaims | undefined {
  const { acr, sub } = readIdTokenClaims(claims)
  const acrs = readAcrs(acr)
  const subjects = [
    ...(hintedPersonId === undefined ? [] : [hintedPersonId]),
    ...(sub && 'value' in sub ? [typeof sub.value === 'string' ? sub.value.slice(0, 64) : ''] : []),
  ]
  if (acrs === undefined && subjects.length === 0) return undefined
  return { ...(acrs && { acrs }), ...(subjects.length > 0 && { subjects }) }
}

/** Whether a sign-in that comes to this is what its application asked for. */
export function meetsRequest(
  interaction: AttemptInteraction,
  { personId, assurance }: { readonly personId: string; readonly assurance: Assurance },
): boolean {
  if (interaction.kind !== 'oidc') return true
  const { acrs, subjects = [] } = interaction.essential ?? {}
  if (acrs !== undefined && !acrs.includes(ACR_OF[assurance])) return false
  return subjects.every((subject) => subject === personId)
}

/** The values that would do, of those that exist; undefined where any does. */
function readAcrs(request: ClaimRequest | undefined): readonly string[] | undefined {
  if (!request?.essential) return undefined
  const { value, values } = request
  if (!value && !values) return undefined
  return Object.values(ACR_OF).filter(
    (acr) =>
      (!value || value === acr) && (!values || (Array.isArray(values) && values.includes(acr))),
  )
}

function readIdTokenClaims(claims: unknown): {
  readonly acr?: ClaimRequest | undefined
  readonly sub?: ClaimRequest | undefined
} {
  if (typeof claims !== 'string') return {}
  const { id_token: asked } = JSON.parse(claims) as {
    readonly id_token?: Readonly<Record<string, unknown>> | null
  }
  return { acr: toRequest(asked?.['acr']), sub: toRequest(asked?.['sub']) }
}

function toRequest(asked: unknown): ClaimRequest | undefined {
  return typeof asked === 'object' && asked !== null ? asked : undefined
}
