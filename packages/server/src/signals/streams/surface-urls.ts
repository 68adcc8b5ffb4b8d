/** Every address of the standard surface. */
export interface SurfaceUrls {
  /** Also the issuer of its SETs, and of its access tokens. */
  readonly issuer: string
  readonly configurationEndpoint: string
  readonly statusEndpoint: string
  readonly addSubjectEndpoint: string
  readonly removeSubjectEndpoint: string
  readonly verificationEndpoint: string
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string
  readonly introspectionEndpoint: string
  /** RFC 9728. */
  readonly protectedResourceMetadata: string
  pollEndpoint(streamId: string): string
}

/** Where the standard surface begins. */
export const SSF_PATH = '/ssf'

/** The addresses below `baseUrl`, which has no slash at its end. */
export function toSurfaceUrls(baseUrl: string): SurfaceUrls {
  const issuer = `${baseUrl}${SSF_PATH}`
  return {
    issuer,
    configurationEndpoint: `${issuer}/streams`,
    statusEndpoint: `${issuer}/status`,
    addSubjectEndpoint: `${issuer}/subjects:add`,
    removeSubjectEndpoint: `${issuer}/subjects:remove`,
    verificationEndpoint: `${issuer}/verify`,
    tokenEndpoint: `${issuer}/token`,
    revocationEndpoint: `${issuer}/token/revocation`,
    introspectionEndpoint: `${issuer}/token/introspection`,
    protectedResourceMetadata: `${baseUrl}/.well-known/oauth-protected-resource${SSF_PATH}`,
    pollEndpoint: (streamId) => `${issuer}/poll/${streamId}`,
  }
}
