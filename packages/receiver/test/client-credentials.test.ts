import { beforeEach, describe, expect, test } from 'vitest'
import { decodeProtectedHeader, importJWK, jwtVerify } from 'jose'
import {
  createClientCredentials,
  createStreamClient,
  TransmitterError,
  type ClientCredentialsOptions,
} from '../src/index.ts'
import { createTestKey } from './support/signing.ts'

const TOKEN_ENDPOINT = 'https://transmitter.example.com/ssf/token'
const ISSUER = 'https://transmitter.example.com/ssf'

interface TokenRequest {
  readonly url: string
  readonly headers: Headers
  readonly parameters: URLSearchParams
}

let nowMs: number
let requests: TokenRequest[]
let answer: (count: number) => Response | Promise<Response>

beforeEach(() => {
  nowMs = 1_700_000_000_000
  requests = []
  answer = (count) =>
    Response.json({ access_token: `token-${count}`, token_type: 'Bearer', expires_in: 600 })
})

function credentials(options: Partial<ClientCredentialsOptions> = {}) {
  return createClientCredentials({
    tokenEndpoint: TOKEN_ENDPOINT,
    clientId: 'receiver 1',
    authentication: { method: 'client_secret_basic', clientSecret: 'p&ss:w%rd' },
    nowMs: () => nowMs,
    fetch: async (url, init) => {
      const parameters = new URLSearchParams(init.body as string)
      requests.push({ url, headers: new Headers(init.headers), parameters })
      return answer(requests.length)
    },
    ...options,
  })
}

describe('a client proves who it is', () => {
  test('with its secret in the Authorization header, form-encoded before it is joined', async () => {
    await credentials({ scope: 'ssf.read', resource: ISSUER }).getAuthorization()
    const [request] = requests
    const basic = (request?.headers.get('authorization') ?? '').replace('Basic ', '')
    expect(atob(basic)).toBe('receiver+1:p%26ss%3Aw%25rd')
    expect(Object.fromEntries(request?.parameters ?? [])).toEqual({
      grant_type: 'client_credentials',
      scope: 'ssf.read',
      resource: ISSUER,
    })
  })

  test('with its secret in the body', async () => {
    const authentication = { method: 'client_secret_post', clientSecret: 's' } as const
    await credentials({ authentication }).getAuthorization()
    expect(requests[0]?.headers.get('authorization')).toBeNull()
    expect(requests[0]?.parameters.get('client_id')).toBe('receiver 1')
    expect(requests[0]?.parameters.get('client_secret')).toBe('s')
  })

  test('with a signed assertion that is never used twice', async () => {
    const key = await createTestKey('c1')
    const authentication = {
      method: 'private_key_jwt',
      key: key.privateKey,
      alg: 'RS256',
      kid: 'c1',
    } as const
    const source = credentials({ authentication })
    source.discard(await source.getAuthorization())
    await source.getAuthorization()
    const jtis = []
    for (const { parameters } of requests) {
      const assertion = parameters.get('client_assertion') ?? ''
      expect(parameters.get('client_assertion_type')).toBe(
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      )
      expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'RS256', kid: 'c1' })
      const { payload } = await jwtVerify(assertion, await importJWK(key.publicJwk, 'RS256'), {
        issuer: 'receiver 1',
        subject: 'receiver 1',
        audience: TOKEN_ENDPOINT,
        currentDate: new Date(nowMs),
      })
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
      jtis.push(payload.jti)
    }
    expect(new Set(jtis).size).toBe(2)
  })
})

describe('an access token', () => {
  test('is kept until shortly before its end', async () => {
    const source = credentials()
    expect(await source.getAuthorization()).toBe('Bearer token-1')
    nowMs += 539_000
    expect(await source.getAuthorization()).toBe('Bearer token-1')
    nowMs += 2_000
    expect(await source.getAuthorization()).toBe('Bearer token-2')
  })

  test('that lives shortly is used for most of its life all the same', async () => {
    answer = (count) =>
      Response.json({ access_token: `token-${count}`, token_type: 'Bearer', expires_in: 20 })
    const source = credentials()
    await source.getAuthorization()
    nowMs += 14_000
    expect(await source.getAuthorization()).toBe('Bearer token-1')
    nowMs += 2_000
    expect(await source.getAuthorization()).toBe('Bearer token-2')
  })

  test('is asked for once by requests at the same time', async () => {
    const source = credentials()
    const values = await Promise.all([source.getAuthorization(), source.getAuthorization()])
    expect(values).toEqual(['Bearer token-1', 'Bearer token-1'])
    expect(requests).toHaveLength(1)
  })

  test('is not lost for the others when one who waits for it gives up', async () => {
    const source = credentials()
    const patient = source.getAuthorization()
    await expect(source.getAuthorization(AbortSignal.abort())).rejects.toMatchObject({
      code: 'aborted',
    })
    expect(await patient).toBe('Bearer token-1')
  })

  test('is replaced once when it is answered with 401, and the request repeated once', async () => {
    const used: (string | null)[] = []
    let isEnded = true
    const client = createStreamClient({
      issuer: ISSUER,
      configuration: { issuer: ISSUER, configuration_endpoint: `${ISSUER}/streams` },
      authorization: credentials(),
      fetch: async (_url, init) => {
        const authorization = new Headers(init.headers).get('authorization')
        used.push(authorization)
        const isRefused = isEnded || authorization === 'Bearer token-1'
        return isRefused ? new Response(null, { status: 401 }) : Response.json([])
      },
    })
    await expect(client.listStreams()).rejects.toMatchObject({ code: 'unauthorized' })
    expect(used).toEqual(['Bearer token-1', 'Bearer token-2'])
    isEnded = false
    expect(await client.listStreams()).toEqual([])
    expect(requests).toHaveLength(2)
  })

  test('that was replaced already is not replaced again by a late 401', async () => {
    const source = credentials()
    source.discard(await source.getAuthorization())
    const second = await source.getAuthorization()
    source.discard('Bearer token-1')
    expect(await source.getAuthorization()).toBe(second)
  })
})

describe('a token endpoint', () => {
  test('that refuses the client is told as such', async () => {
    answer = () =>
      Response.json({ error: 'invalid_client', error_description: 'unknown' }, { status: 401 })
    const failure: unknown = await credentials()
      .getAuthorization()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TransmitterError)
    expect(failure).toMatchObject({
      code: 'unauthorized',
      error: 'invalid_client',
      description: 'unknown',
    })
  })

  test('that failed is asked again by the next request', async () => {
    const source = credentials()
    const good = answer
    answer = () => new Response(null, { status: 503 })
    await expect(source.getAuthorization()).rejects.toMatchObject({ code: 'unavailable' })
    answer = good
    expect(await source.getAuthorization()).toBe('Bearer token-2')
  })

  test.each([
    ['no token', { token_type: 'Bearer' }],
    ['a token that breaks its header', { access_token: 'a\r\nb', token_type: 'Bearer' }],
    ['a token of another type', { access_token: 'a', token_type: 'DPoP' }],
  ])('that gives %s is a bad response', async (_title, body) => {
    answer = () => Response.json(body)
    await expect(credentials().getAuthorization()).rejects.toMatchObject({ code: 'bad_response' })
  })

  test('without TLS is not told the secret', () => {
    expect(() => credentials({ tokenEndpoint: 'http://transmitter.example.com/token' })).toThrow(
      TypeError,
    )
  })
})
