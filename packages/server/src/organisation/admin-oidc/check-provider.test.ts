import type { ServerMetadata } from 'openid-client'
import { describe, expect, it } from 'vitest'
import { findMetadataProblems } from './check-provider.ts'
import { listSignatures } from './provider-client.ts'

const ISSUER = 'https://login.example.com'

const document = (more: object = {}) =>
  ({
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/jwks`,
    ...more,
  }) as ServerMetadata

const problemsOf = (more: object) =>
  findMetadataProblems(document(more), ISSUER).map(({ message }) => message)

describe('what a provider says of itself', () => {
  it('is enough with the endpoints and their defaults', () => {
    expect(problemsOf({})).toEqual([])
    expect(problemsOf({ code_challenge_methods_supported: null })).toEqual([])
    expect(listSignatures(document({ id_token_signing_alg_values_supported: null }))).toEqual([
      'RS256',
    ])
  })

  it.each([
    ['no address', { token_endpoint: 7 }, 'names no token_endpoint'],
    ['a script', { authorization_endpoint: 'javascript:0' }, 'no HTTPS address'],
    ['plain HTTP', { userinfo_endpoint: 'http://login.example.com/me' }, 'no HTTPS address'],
    ['no list', { code_challenge_methods_supported: 'S256' }, 'does not take PKCE'],
    ['no list', { code_challenge_methods_supported: {} }, 'does not take PKCE'],
    ['no list', { id_token_signing_alg_values_supported: 'none' }, 'no algorithm'],
    ['no words', { id_token_signing_alg_values_supported: [7, null] }, 'no algorithm'],
  ])('with %s where something else belongs is refused, in words', (_what, more, message) => {
    expect(problemsOf(more)).toEqual([expect.stringContaining(message)])
  })
})
