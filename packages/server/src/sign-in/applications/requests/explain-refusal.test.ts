import { describe, expect, it } from 'vitest'
import { explainRefusal, type RefusedRequest } from './explain-refusal.ts'

const REFUSED: RefusedRequest = {
  endpoint: 'authorization',
  error: 'invalid_request',
  description: '',
  detail: '',
  parameters: {
    client_id: 'hga_wiki',
    redirect_uri: `https://wiki.example.com/${'a'.repeat(300)}`,
    scope: 'email',
    code_challenge_method: 'plain',
    login_hint: 'ada@example.com',
  },
  authMethod: 'client_secret_post',
  expectedAuthMethod: 'client_secret_basic',
}

const fieldOf = (changes: Partial<RefusedRequest>) =>
  explainRefusal({ ...REFUSED, ...changes }).field

describe('explainRefusal', () => {
  it.each([
    [{ error: 'invalid_redirect_uri' }, 'redirect_uri'],
    [{ description: 'missing required parameter(s) (redirect_uri)' }, 'redirect_uri'],
    [
      { error: 'invalid_grant', detail: 'authorization code redirect_uri mismatch' },
      'redirect_uri',
    ],
    [{ error: 'invalid_grant', detail: 'PKCE verification failed' }, 'code_verifier'],
    [{ error: 'invalid_grant', detail: 'authorization code already consumed' }, 'code'],
    [{ error: 'invalid_scope', description: 'requested scope is not allowed' }, 'scope'],
    [{ description: 'openid scope must be requested when using the claims parameter' }, 'claims'],
    [{ description: 'Authorization Server policy requires PKCE to be used' }, 'code_challenge'],
    [{ error: 'unsupported_response_type' }, 'response_type'],
    [{ error: 'invalid_request_uri' }, 'request'],
    [{ description: 'could not validate id_token_hint' }, 'id_token_hint'],
    [{ error: 'unsupported_grant_type' }, 'grant_type'],
    [{ description: 'something new' }, 'other'],
    [{ error: 'invalid_client', expectedAuthMethod: undefined }, 'client_id'],
    [{ error: 'invalid_client' }, 'token_endpoint_auth_method'],
    [{ error: 'invalid_client', authMethod: 'client_secret_basic' }, 'client_secret'],
    [
      {
        error: 'invalid_client',
        authMethod: 'private_key_jwt',
        expectedAuthMethod: 'private_key_jwt',
      },
      'client_assertion',
    ],
  ] as const)('names the field of %j', (changes, field) => {
    expect(fieldOf(changes)).toBe(field)
  })

  it('says what was given, cut off, and never what must not be kept', () => {
    const { given } = explainRefusal({ ...REFUSED, error: 'invalid_redirect_uri' })
    expect(given).toHaveLength(200)
    const hint = explainRefusal({ ...REFUSED, description: 'id_token_hint' })
    expect(hint.given).toBeNull()
    const pkce = explainRefusal({
      ...REFUSED,
      description: 'not supported value of code_challenge_method',
    })
    expect(pkce).toEqual({ field: 'code_challenge', given: 'plain' })
  })
})
