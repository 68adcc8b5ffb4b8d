/* Hears of the requests that the OpenID provider refuses, and says what was sent. Nothing secret goes on. */
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { RefusalRecorder } from '../applications/requests/refusal-recorder.ts'

/** How a sign-in ends that nobody set up wrongly. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set([
  ...['access_denied', 'login_required', 'interaction_required', 'consent_required'],
  ...['temporarily_unavailable', 'server_error'],
])

const SENT = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'grant_type'],
  'code_challenge_method',
]

interface LibraryError extends Error {
  readonly error?: string | undefined
  readonly error_description?: string | undefined
  readonly error_detail?: string | undefined
}

/** Tells the recorder of every request that is refused. */
export function watchRefusals(provider: Provider, { note }: Pick<RefusalRecorder, 'note'>): void {
  const hear =
    (endpoint: string) =>
    (context: KoaContextWithOIDC, failure: LibraryError): void => {
      const {
        error = 'server_error',
        error_description: description,
        error_detail: detail,
      } = failure
      if (EXPECTED_ERRORS.has(error)) return
      note({
        endpoint,
        error,
        description: description ?? '',
        detail: detail ?? '',
        parameters: readSent(context),
        authMethod: readAuthMethod(context),
      })
    }
  provider.on('authorization.error', hear('authorization'))
  provider.on('pushed_authorization_request.error', hear('pushed_authorization_request'))
  provider.on('grant.error', hear('token'))
}

function readSent(context: KoaContextWithOIDC): Record<string, string | undefined> {
  const { oidc, query, headers } = context
  const sources: readonly (Readonly<Record<string, unknown>> | undefined)[] = [
    oidc.params,
    oidc.body,
    query,
  ]
  const read = (name: string) =>
    sources
      .map((source) => source?.[name])
      .find((value): value is string => typeof value === 'string')
  const sent = Object.fromEntries(SENT.map((name) => [name, read(name)]))
  return { ...sent, client_id: sent['client_id'] ?? readBasicUser(headers.authorization) }
}

/** RFC 6749 section 2.3.1. */
function readBasicUser(authorization: string | undefined): string | undefined {
  const encoded = /^basic\s+(\S+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const [user = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  try {
    return decodeURIComponent(user)
  } catch {
    return undefined
  }
}

function readAuthMethod({ oidc, headers }: KoaContextWithOIDC): string | undefined {
  const body = oidc.body as Readonly<Record<string, unknown>> | undefined
  if (/^basic\s/i.test(headers.authorization ?? '')) return 'client_secret_basic'
  if (body?.['client_assertion'] !== undefined) return 'private_key_jwt'
  if (body?.['client_secret'] !== undefined) return 'client_secret_post'
  return 'none'
}
