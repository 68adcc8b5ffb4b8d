import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import { API_VERSION_HEADER, resolveApiVersion, type ApiVersion } from './api-version.ts'
import { readBearerToken } from './bearer-token.ts'
import type { Principal } from './principal.ts'
import {
  addressBucket,
  callerBucket,
  rateLimited,
  writeRateLimitHeaders,
  type RateLimiter,
} from './rate-limit.ts'
import type { ApiRoute, Feature } from './route.ts'

/** Where a credential came from; for the audit of its use. */
export interface CredentialUse {
  readonly address: string
  readonly userAgent: string | undefined
}

/**
 * Finds the caller behind the secret of an `Authorization: Bearer` header.
 *
 * @throws AppError `unauthenticated` for a secret that is unknown, expired or revoked.
 */
export type Authenticate = (secret: string, use: CredentialUse) => Promise<Principal>

/** What finding a caller needs of the service. */
export interface CallerOptions {
  readonly authenticate: Authenticate
  readonly rateLimiter: RateLimiter
  readonly limits: AccessLimits
}

/** What the access check needs of the service. */
export interface AccessOptions extends CallerOptions {
  readonly isFeatureEnabled: (feature: Feature) => Promise<boolean>
}

export interface AccessLimits {
  /** Requests per key in any 60 s. */
  readonly requestsPerMinute: number
  /** Failed authentications per address in any 60 s. */
  readonly failedAuthenticationsPerMinute: number
}

/** What the access check found out about a request. */
export interface GrantedAccess {
  readonly apiVersion: ApiVersion
  readonly principal: Principal | undefined
}

/**
 * Lets a request through to a route or refuses it, before its body is read. The order is part of the
 * contract: version, credential, rate, version of the route, feature, permission.
 *
 * @throws AppError `unsupported_version`, `unauthenticated`, `rate_limited`, `not_found`,
 * `feature_disabled`, `permission_missing`.
 */
export async function checkAccess(
  route: ApiRoute,
  options: AccessOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<GrantedAccess> {
  const apiVersion = resolveApiVersion(request.headers)
  reply.header(API_VERSION_HEADER, apiVersion)
  if (route.permission === 'public') {
    checkRouteVersion(route, apiVersion)
    return { apiVersion, principal: undefined }
  }
  const principal = await identifyCaller(route, options, request, reply)
  checkRouteVersion(route, apiVersion)
  await checkFeature(route.feature, options)
  checkPermission(route, principal)
  return { apiVersion, principal }
}

/**
 * Finds the caller behind the credential of a request and counts the request against its rate limit;
 * for every surface that takes API keys.
 *
 * @throws AppError `unauthenticated`, `rate_limited`
 */
export async function identifyCaller(
  route: Pick<ApiRoute, 'credential'>,
  options: CallerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal> {
  const principal = await authenticate(route, options, request, reply)
  await checkRate(principal, options, reply)
  return principal
}

async function authenticate(
  route: Pick<ApiRoute, 'credential'>,
  options: CallerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal> {
  try {
    const params = request.params as Readonly<Record<string, string>>
    const other = await route.credential?.(request.headers, params)
    return other ?? (await options.authenticate(readBearerToken(request.headers), useOf(request)))
  } catch (error) {
    if (error instanceof AppError && error.kind === 'unauthenticated') {
      await countFailedAuthentication(options, request, reply)
    }
    throw error
  }
}

function useOf(request: FastifyRequest): CredentialUse {
  return { address: request.ip, userAgent: request.headers['user-agent'] }
}

/**
 * Failures count after the look-up, and only failures are refused for them: an address is often a
 * whole office behind one gateway, or a proxy that is not configured as trusted, and one broken script
 * must not shut out the keys that work. Guessing gains nothing by it, with secrets of 192 bits and more.
 */
async function countFailedAuthentication(
  options: CallerOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const decision = await options.rateLimiter.take(
    addressBucket(request.ip),
    options.limits.failedAuthenticationsPerMinute,
  )
  writeRateLimitHeaders(reply, decision)
  if (!decision.isAllowed) throw rateLimited(decision)
}

async function checkRate(
  principal: Principal,
  options: CallerOptions,
  reply: FastifyReply,
): Promise<void> {
  const decision = await options.rateLimiter.take(
    callerBucket(principal.kind, principal.id),
    options.limits.requestsPerMinute,
  )
  writeRateLimitHeaders(reply, decision)
  if (!decision.isAllowed) throw rateLimited(decision)
}

function checkRouteVersion(route: ApiRoute, apiVersion: ApiVersion): void {
  if (route.versions === undefined || route.versions.includes(apiVersion)) return
  throw new AppError(
    'not_found',
    'not_found',
    `This path does not exist in version ${apiVersion}; it exists in ${route.versions.join(', ')}.`,
  )
}

async function checkFeature(feature: Feature | null, options: AccessOptions): Promise<void> {
  if (feature === null || (await options.isFeatureEnabled(feature))) return
  throw new AppError(
    'unauthenticated',
    'feature_disabled',
    'The organisation has switched this feature off. An admin with Full Access can switch it on.',
  )
}

/**
 * Refuses a caller who lacks the permission of a route.
 *
 * @throws AppError `permission_missing`
 */
export function checkPermission(route: Pick<ApiRoute, 'permission'>, principal: Principal): void {
  const { permission } = route
  if (permission === null || permission === 'public') return
  if (principal.permissions.has(permission)) return
  throw new AppError(
    'forbidden',
    'permission_missing',
    `This request needs the permission "${permission}", which the key does not hold.`,
  )
}
