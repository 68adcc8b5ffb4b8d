/*
 * The request that Entra sends a browser with. Everything that it must say is checked, and nothing else is read.
 */
import { z } from 'zod'
import type { FormBody } from '../pages/kit/form-body.ts'

/** What Entra asks for. */
export interface EntraRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly nonce: string
  readonly state: string | null
  readonly hint: string
  /** Methods of which the answer names one. */
  readonly amr: readonly string[]
  /** For the log of whoever looks for a sign-in at both ends. */
  readonly clientRequestId: string | null
}

const LENGTH_MAX = 4_096
const HINT_LENGTH_MAX = 16_384
const text = z.string().min(1).max(LENGTH_MAX)

const requestSchema = z.object({
  scope: text.refine((scope) => scope.split(' ').includes('openid')),
  response_type: z.literal('id_token'),
  response_mode: z.literal('form_post'),
  client_id: text,
  redirect_uri: text,
  nonce: text,
  state: text.optional(),
  id_token_hint: z.string().min(1).max(HINT_LENGTH_MAX),
  claims: text,
  'client-request-id': text.optional(),
})

const claimsSchema = z.object({
  id_token: z.object({
    acr: z.object({
      essential: z.literal(true),
      values: z.array(z.string()).refine((values) => values.includes(ENTRA_ACR)),
    }),
    amr: z.object({ essential: z.literal(true), values: z.array(z.string()).min(1).max(50) }),
  }),
})

/** The one authentication context that Entra asks external methods for. */
export const ENTRA_ACR = 'possessionorinherence'

/** What of a form is not as Entra sends it. */
export interface UnreadEntraRequest {
  /** Empty where it names none. */
  readonly clientId: string
  /** The parameter that is missing or wrong. */
  readonly wrong: string
}

/** The request of a form, or what is wrong with it. */
export function readEntraRequest(form: FormBody): EntraRequest | UnreadEntraRequest {
  const clientId = form.get('client_id') ?? ''
  const request = requestSchema.safeParse(Object.fromEntries(form))
  if (!request.success) return { clientId, wrong: String(request.error.issues[0]?.path[0]) }
  const { data } = request
  const claims = claimsSchema.safeParse(parseJson(data.claims))
  if (!claims.success) return { clientId, wrong: 'claims' }
  return {
    clientId,
    redirectUri: data.redirect_uri,
    nonce: data.nonce,
    state: data.state ?? null,
    hint: data.id_token_hint,
    amr: claims.data.id_token.amr.values,
    clientRequestId: data['client-request-id'] ?? null,
  }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
