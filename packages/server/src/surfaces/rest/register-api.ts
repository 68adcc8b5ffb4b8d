/*
 * The REST API: its versions, its switches and its permissions, on top of what surfaces have in common.
 * Its documents and its routes' table are written from the same declarations.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import {
  checkStepUp,
  type AccessCheck,
  type AccessRequest,
  type CallerOptions,
} from '../../platform/http/access.ts'
import { SERVICE_ERRORS } from '../../platform/http/error-response.ts'
import type { AnswerOnce } from '../../platform/http/idempotency/answer-once.ts'
import { permissionOf, type Operation, type Paging } from '../../platform/http/operation.ts'
import { registerSurface } from '../../platform/http/surface.ts'
import { FEATURES, type Feature } from '../../schema/features.ts'
import { isPermission } from '../../schema/permissions.ts'
import { checkAccessLevel } from './check-access-level.ts'
import { API_VERSION_HEADER, resolveApiVersion } from './api-version.ts'
import { deprecationHeaders } from './deprecation.ts'

export interface ApiOptions {
  readonly routes: readonly Operation[]
  readonly callers: CallerOptions
  readonly isFeatureEnabled: (feature: Feature) => Promise<boolean>
  readonly paging: Paging
  /** Keeps the answers of writes that carry an idempotency key. */
  readonly answerOnce: AnswerOnce
  /** Refuses a caller who lacks the permission of a route. */
  readonly checkPermission: AccessCheck
}

/**
 * Registers the routes. Two routes with the same method and path fail the start, as does a permission or a
 * switch that does not exist.
 */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  const { routes, callers, isFeatureEnabled, paging, answerOnce, checkPermission } = options
  for (const route of routes) assertNamesExist(route)
  registerSurface(app, {
    prefix: '',
    operations: routes,
    callers,
    negotiateVersion: (route, request, reply) => negotiate(route, request, reply, paging.baseUrl),
    checks: [
      checkVersion,
      createFeatureCheck(isFeatureEnabled),
      checkAccessLevel,
      checkPermission,
      checkStepUp,
    ],
    errors: SERVICE_ERRORS,
    mediaType: 'application/json; charset=utf-8',
    paging,
    answerOnce,
  })
}

/**
 * The switch that closes a route; writes are closed by `api_writes` unless they say otherwise. It is about keys:
 * the console goes on writing.
 */
export function featureOf({ access, feature, method }: Operation): Feature | null {
  if (access === 'public' || 'session' in access || feature === null) return null
  if (feature !== undefined) return FEATURES.find((name) => name === feature) ?? null
  return method === 'GET' ? null : 'api_writes'
}

function assertNamesExist(route: Operation): void {
  const { feature, method, path } = route
  const permission = permissionOf(route)
  if (permission !== null && !isPermission(permission)) {
    throw new Error(`${method} ${path} needs a permission that does not exist: ${permission}`)
  }
  if (feature !== null && feature !== undefined && !FEATURES.some((name) => name === feature)) {
    throw new Error(`${method} ${path} is closed by a switch that does not exist: ${feature}`)
  }
}

function negotiate(
  route: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  baseUrl: string,
): string {
  const version = resolveApiVersion(request.headers)
  void reply
    .headers(deprecationHeaders(route, version, baseUrl))
    .header(API_VERSION_HEADER, version)
  return version
}

function checkVersion({ versions }: Operation, { version = '' }: AccessRequest): void {
  if (versions === undefined || versions.includes(version)) return
  throw new AppError(
    'not_found',
    `This path does not exist in version ${version}; it exists in ${versions.join(', ')}.`,
  )
}

function createFeatureCheck(isFeatureEnabled: ApiOptions['isFeatureEnabled']): AccessCheck {
  return async (route, { caller }) => {
    const feature = featureOf(route)
    if (feature === null || (feature === 'api_writes' && caller?.session !== undefined)) return
    if (await isFeatureEnabled(feature)) return
    throw new AppError(
      'feature_disabled',
      'The organisation has switched this feature off. An admin with Full Access can switch it on.',
    )
  }
}
