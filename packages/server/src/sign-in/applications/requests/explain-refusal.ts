/*
 * Why a request of an application was refused: which field was wrong, what was given, and what somebody does
 * about it. RFC 6749 sections 4.1.2.1 and 5.2; RFC 7636 section 4.6; OpenID Connect Core 1.0 section 3.1.2.6. Secrets,
 * codes and hints are never kept.
 */

/** What can be wrong with a request, in words, with the remedy. */
export const REFUSED_FIELDS = {
  client_id: {
    words: 'No application that is switched on has this client ID.',
    remedy: 'Enter the client ID of the application there, or switch the application on.',
  },
  client_secret: {
    words: 'The client secret is wrong.',
    remedy: 'Copy the secret again without spaces around it, or rotate it and enter the new one.',
  },
  client_assertion: {
    words: 'The client assertion was not taken.',
    remedy:
      'See that its key is registered here, that it is meant for this service (`aud`), that it ends within an hour (`exp`), that each is sent once (`jti`), and that the clock there is right.',
  },
  token_endpoint_auth_method: {
    words: 'The application authenticates in another way than it is registered with.',
    remedy: 'Choose the way of client authentication there that the application has here.',
  },
  redirect_uri: {
    words: 'The redirect URI is not registered.',
    remedy:
      'Add it to the redirect URIs of the application, or correct it there. Every letter counts.',
  },
  response_type: {
    words: 'Another flow than the authorization code was asked for.',
    remedy: 'Choose the authorization code flow there (`response_type=code`).',
  },
  response_mode: {
    words: 'The answer was asked for in a form that is not supported.',
    remedy: 'Leave `response_mode` out there, or choose `query` or `form_post`.',
  },
  scope: {
    words: 'The scopes are wrong.',
    remedy: 'Ask for `openid email profile`.',
  },
  code_challenge: {
    words: 'PKCE is missing, or wrong.',
    remedy: 'Switch on PKCE with S256 there.',
  },
  code_verifier: {
    words: 'The code verifier of PKCE does not belong to the request.',
    remedy: 'Use the same browser for the whole sign-in, and S256 as the method.',
  },
  code: {
    words: 'The authorization code is over, was used before, or belongs to another application.',
    remedy:
      'Let the application take the code once, within a minute. Two applications must not share a client ID.',
  },
  grant_type: {
    words: 'A grant was asked for that is not offered.',
    remedy: 'Choose the authorization code flow there; refresh tokens are not issued.',
  },
  id_token_hint: {
    words: 'The ID token that names the person is not one of this service.',
    remedy: 'Send an ID token that this service has issued, or `login_hint`.',
  },
  claims: {
    words: 'The parameter `claims` cannot be read.',
    remedy: 'Send a JSON object, or none.',
  },
  request: {
    words: 'The signed or pushed request was not taken.',
    remedy:
      'See that its keys are registered here, that a signed one ends within an hour (`exp`), and that a pushed one is used once, within a minute.',
  },
  entra_request: {
    words: 'The request is not one that Entra sends to an external authentication method.',
    remedy:
      'Enter the discovery document of this application in Entra as it is shown here, and no address of another application.',
  },
  cloud: {
    words: 'The answer was to go to another cloud of Microsoft than the one that was chosen here.',
    remedy: 'Choose the cloud of the tenant: it is set up with a new application here.',
  },
  hint_keys: {
    words: 'The keys of the tenant could not be read.',
    remedy: 'Correct the tenant of the application, and see that this service reaches Microsoft.',
  },
  hint_signature: {
    words: 'What Entra says of the person is not signed by a key of the tenant.',
    remedy:
      'Correct the tenant of the application. If it is right, somebody else sent the request.',
  },
  hint_tenant: {
    words: 'What Entra says of the person is of another tenant.',
    remedy: 'Correct the tenant of the application.',
  },
  hint_audience: {
    words: 'What Entra says of the person was made for another app registration.',
    remedy: 'Enter the application ID of the registration that the external method has in Entra.',
  },
  hint_claim: {
    words: 'What Entra says of the person lacks a claim, or has it in another form.',
    remedy:
      'See that the app registration adds it, and that guests are let in where they are meant.',
  },
  hint_time: {
    words: 'What Entra says of the person was not made just now.',
    remedy: 'See that the clocks of this machine and of its database are right.',
  },
  other: {
    words: 'The request was not taken.',
    remedy:
      'Compare it with the discovery document; check its address on the page of the application.',
  },
} as const satisfies Record<string, { readonly words: string; readonly remedy: string }>

export type RefusedField = keyof typeof REFUSED_FIELDS

/** A request as the provider refused it. */
export interface RefusedRequest {
  readonly endpoint: string
  /** The error of OAuth, such as `invalid_client`. */
  readonly error: string
  /** What the library says of it, for developers. */
  readonly description: string
  readonly detail: string
  /** What was sent, by name. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  /** How the application authenticated; undefined where it did not. */
  readonly authMethod: string | undefined
  /** How the application is to authenticate; undefined for one that nobody knows. */
  readonly expectedAuthMethod: string | undefined
}

export interface ExplainedRefusal {
  readonly field: RefusedField
  /** At most 200 characters; null where it must not be kept, or nothing was given. */
  readonly given: string | null
}

/** What is kept of what was given, in characters. */
export const GIVEN_LENGTH_MAX = 200

/** What may be kept of a field. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'grant_type'],
])

/** What the library speaks of, by the field that it is. The first that fits counts. */
const MARKS: readonly (readonly [RegExp, RefusedField])[] = [
  [/redirect_uri/, 'redirect_uri'],
  [/code_verifier|PKCE verification/, 'code_verifier'],
  [/code_challenge|PKCE/, 'code_challenge'],
  [/response_mode/, 'response_mode'],
  [/response_type/, 'response_type'],
  [/id_token_hint/, 'id_token_hint'],
  [/claims/, 'claims'],
  [/scope/, 'scope'],
  [/grant_type|grant type/, 'grant_type'],
  [/client_id/, 'client_id'],
]

const FIELD_OF_ERROR: Readonly<Record<string, RefusedField>> = {
  invalid_redirect_uri: 'redirect_uri',
  invalid_scope: 'scope',
  unsupported_response_type: 'response_type',
  unsupported_response_mode: 'response_mode',
  unsupported_grant_type: 'grant_type',
  unauthorized_client: 'grant_type',
  invalid_request_object: 'request',
  invalid_request_uri: 'request',
}

/** Says which field of a refused request was wrong. */
export function explainRefusal(refused: RefusedRequest): ExplainedRefusal {
  const field = findField(refused)
  if (field === 'token_endpoint_auth_method') return { field, given: refused.authMethod ?? null }
  const given = SHOWN_PARAMETERS.has(field)
    ? refused.parameters[field]
    : field === 'code_challenge'
      ? refused.parameters['code_challenge_method']
      : undefined
  return { field, given: given === undefined ? null : given.slice(0, GIVEN_LENGTH_MAX) }
}

function findField(refused: RefusedRequest): RefusedField {
  const { error, description, detail, authMethod, expectedAuthMethod } = refused
  if (error === 'invalid_client') {
    if (expectedAuthMethod === undefined) return 'client_id'
    if (authMethod !== expectedAuthMethod) return 'token_endpoint_auth_method'
    return authMethod === 'private_key_jwt' ? 'client_assertion' : 'client_secret'
  }
  const told = `${description} ${detail}`
  const marked = MARKS.find(([mark]) => mark.test(told))?.[1]
  const known = FIELD_OF_ERROR[error] ?? marked
  return known ?? (error === 'invalid_grant' ? 'code' : 'other')
}
