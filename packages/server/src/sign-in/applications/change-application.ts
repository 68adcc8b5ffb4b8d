/*
 * The applications that people sign in to here: made, changed, given new secrets, removed. Owns what fits together in
 * one. A secret is answered once and kept sealed; what an application was granted ends with it.
 */
import type { Change } from '../../changes/change.ts'
import { auditedAs } from '../../changes/audited-record.ts'
import { AppError, conflict, invalidBody } from '../../platform/app-error.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import { keyThumbprints } from '../../platform/secrets/key-thumbprints.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import type { PublicJwks } from '../../platform/wire/public-jwks-input.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import { endSessionsOf } from '../sessions/end-sessions.ts'
import { getUpstream } from '../upstreams/upstream-store.ts'
import {
  generateApplicationId,
  generateApplicationSecret,
  sealApplicationSecret,
} from './application-secret.ts'
import {
  countApplications,
  deleteToldApplications,
  findOwnerOfHosts,
  getApplication,
  insertApplication,
  updateApplication,
  updateApplicationDeleted,
  type SignInApplication,
} from './application-store.ts'

/** What an application is. */
export interface ApplicationValues extends Pick<
  SignInApplication,
  | 'name'
  | 'kind'
  | 'mode'
  | 'tokenEndpointAuthMethod'
  | 'jwksUri'
  | 'backchannelLogoutUri'
  | 'upstreamProviderId'
  | 'minimumAssurance'
  | 'isSerialClaimed'
  | 'claimsProfile'
  | 'entraTenantId'
  | 'entraAppId'
  | 'entraCloud'
  | 'sessionSeconds'
  | 'isEnabled'
> {
  readonly redirectUris: readonly string[]
  readonly postLogoutRedirectUris: readonly string[]
  readonly hosts: readonly string[]
  readonly jwks: PublicJwks | null
}

/** What stays of an application for as long as it exists. */
export type ApplicationEdit = {
  readonly [Name in Exclude<keyof ApplicationValues, 'kind'>]?: ApplicationValues[Name] | undefined
}

/** An application with its secret, which nobody can see again; null where it has none. */
export interface IssuedApplication {
  readonly application: SignInApplication
  readonly secret: string | null
}

export interface ApplicationDependencies {
  readonly sealer: Sealer
  /** Why an address cannot be asked; undefined when it can. */
  readonly findTargetProblem: (url: string) => string | undefined
}

const APPLICATIONS_MAX = 1_000
const audit = auditedAs('sign_in_application', 'application')

/** @throws AppError `invalid_body`; `limit_reached`; `target_refused`; `conflict` for a name or host that is taken */
export async function createApplication(
  change: Change,
  values: ApplicationValues,
  dependencies: ApplicationDependencies,
): Promise<IssuedApplication> {
  await lockInTransaction(change.tx, LOCK_KEYS.signInApplications)
  if ((await countApplications(change.tx)) >= APPLICATIONS_MAX) {
    throw new AppError('limit_reached', `There are ${APPLICATIONS_MAX} applications already.`)
  }
  await assertFit(change, values, dependencies)
  const clientId = generateApplicationId()
  const secret = hasSecret(values) ? generateApplicationSecret() : null
  const application = await refuseTakenName(values.name, async () =>
    insertApplication(change.tx, {
      ...toColumns(values),
      name: values.name,
      kind: values.kind,
      mode: values.mode,
      sessionSeconds: values.sessionSeconds,
      tokenEndpointAuthMethod: values.tokenEndpointAuthMethod,
      clientId,
      clientSecretSealed:
        secret === null ? null : sealApplicationSecret(dependencies.sealer, clientId, secret),
      createdAt: change.at,
      updatedAt: change.at,
    }),
  )
  audit.created(change, application, await toAuditValues(application))
  return { application, secret }
}

/**
 * Changes what is given. Sessions of one that is switched off end.
 *
 * @throws AppError `not_found`, and as when it is created
 */
export async function changeApplication(
  change: Change,
  identifier: string,
  edit: ApplicationEdit,
  dependencies: ApplicationDependencies,
): Promise<SignInApplication> {
  if (edit.hosts !== undefined) await lockInTransaction(change.tx, LOCK_KEYS.signInApplications)
  const before = await getApplication(change.tx, identifier, { isLocked: true })
  const values = { ...before, ...withoutAbsent(edit) }
  if (hasSecret(values) !== hasSecret(before)) {
    throw conflict('An application keeps whether it has a secret. Make another one.')
  }
  await assertFit(change, values, dependencies, before.id)
  const after = await refuseTakenName(values.name, async () =>
    updateApplication(change.tx, before.id, { ...toColumns(values), updatedAt: change.at }),
  )
  if (before.isEnabled && !after.isEnabled) {
    await endSessionsOf(change, { applicationId: before.id }, 'application')
  }
  audit.updated(change, after, await toAuditValues(before), await toAuditValues(after))
  return after
}

/**
 * Gives an application a new secret; the one before ends at once.
 *
 * @throws AppError `not_found`; `conflict` for one without a secret
 */
export async function rotateApplicationSecret(
  change: Change,
  identifier: string,
  { sealer }: Pick<ApplicationDependencies, 'sealer'>,
): Promise<IssuedApplication> {
  const before = await getApplication(change.tx, identifier, { isLocked: true })
  if (!hasSecret(before)) throw conflict(`The application ${before.name} has no secret.`)
  const secret = generateApplicationSecret()
  const application = await updateApplication(change.tx, before.id, {
    clientSecretSealed: sealApplicationSecret(sealer, before.clientId, secret),
    updatedAt: change.at,
  })
  change.recordAudit({
    action: 'sign_in_application.secret_rotated',
    target: { type: 'sign_in_application', id: before.id },
    description: `gave the application ${before.name} a new secret`,
  })
  return { application, secret }
}

/**
 * Removes an application with what it was granted. Where it wants to be told of the ends of its sessions, it still is.
 *
 * @throws AppError `not_found`
 */
export async function removeApplication(
  change: Change,
  identifier: string,
): Promise<SignInApplication> {
  const application = await getApplication(change.tx, identifier, { isLocked: true })
  await endSessionsOf(change, { applicationId: application.id }, 'application')
  await updateApplicationDeleted(change.tx, application.id, change.at)
  await deleteToldApplications(change.tx)
  audit.deleted(change, application, await toAuditValues(application))
  return application
}

/** Whether an application authenticates by a secret. */
function hasSecret({
  kind,
  tokenEndpointAuthMethod: method,
}: Pick<ApplicationValues, 'kind' | 'tokenEndpointAuthMethod'>): boolean {
  return kind === 'oidc' && (method === 'client_secret_basic' || method === 'client_secret_post')
}

async function assertFit(
  change: Change,
  values: ApplicationValues,
  { findTargetProblem }: ApplicationDependencies,
  id?: string,
): Promise<void> {
  const problems = findProblems(values)
  if (problems.length > 0) throw invalidBody(problems)
  for (const url of [values.jwksUri, values.backchannelLogoutUri]) {
    const problem = url === null ? undefined : findTargetProblem(url)
    if (problem !== undefined) throw new AppError('target_refused', problem)
  }
  if (values.upstreamProviderId !== null) await getUpstream(change.tx, values.upstreamProviderId)
  const hosts = values.kind === 'forward_auth' ? values.hosts : []
  const taken = await findOwnerOfHosts(change.tx, hosts, id)
  if (taken !== undefined) {
    throw conflict(`The host ${taken.host} belongs to the application ${taken.name}.`)
  }
}

/** What does not fit together, by the fields of the API. */
function findProblems(values: ApplicationValues): { path: string; message: string }[] {
  const { kind, mode, tokenEndpointAuthMethod: method } = values
  const hasKeys = values.jwks !== null || values.jwksUri !== null
  const conditions: readonly (readonly [boolean, string, string])[] = [
    [
      mode === 'broker' && values.upstreamProviderId === null,
      'upstream_provider_id',
      'is needed in the mode broker',
    ],
    [
      mode === 'step_up' && kind === 'forward_auth',
      'mode',
      'must be broker: a proxy sends no hint',
    ],
    [mode === 'broker' && kind === 'entra', 'mode', 'must be step_up: Entra says who signs in'],
    [kind === 'oidc' && values.redirectUris.length === 0, 'redirect_uris', 'must not be empty'],
    [kind === 'forward_auth' && values.hosts.length === 0, 'hosts', 'must not be empty'],
    [
      values.jwks !== null && values.jwksUri !== null,
      'jwks_uri',
      'must not be given together with jwks',
    ],
    [method === 'private_key_jwt' && !hasKeys, 'jwks', 'or jwks_uri is needed by private_key_jwt'],
    [
      kind !== 'oidc' && method !== 'none',
      'token_endpoint_auth_method',
      'must be none for this kind',
    ],
    [kind === 'entra' && values.entraTenantId === null, 'entra_tenant_id', 'is needed'],
    [kind === 'entra' && values.entraAppId === null, 'entra_app_id', 'is needed'],
    [kind === 'entra' && values.entraCloud === null, 'entra_cloud', 'is needed'],
  ]
  return conditions.flatMap(([isWrong, path, message]) => (isWrong ? [{ path, message }] : []))
}

function toColumns(values: ApplicationValues) {
  const { name, mode, tokenEndpointAuthMethod, jwksUri, backchannelLogoutUri } = values
  const { upstreamProviderId, minimumAssurance, isSerialClaimed, claimsProfile } = values
  const { entraTenantId, entraAppId, entraCloud, sessionSeconds, isEnabled } = values
  return {
    ...{ name, mode, tokenEndpointAuthMethod, jwksUri, backchannelLogoutUri },
    ...{ upstreamProviderId, minimumAssurance, isSerialClaimed, claimsProfile },
    ...{ entraTenantId, entraAppId, entraCloud, sessionSeconds, isEnabled },
    redirectUris: [...values.redirectUris],
    postLogoutRedirectUris: [...values.postLogoutRedirectUris],
    hosts: [...values.hosts],
    jwks: values.jwks === null ? null : JSON.stringify({ keys: values.jwks.keys }),
  }
}

function withoutAbsent(edit: ApplicationEdit): Partial<ApplicationValues> {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined))
}

async function refuseTakenName<Result>(
  name: string,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict(`There is an application ${name} already.`)
  }
}

/** What the audit log keeps: of keys their thumbprints. */
async function toAuditValues(application: SignInApplication) {
  const { name, kind, mode, clientId, redirectUris, hosts, minimumAssurance } = application
  return {
    ...{ name, kind, mode, hosts },
    client_id: clientId,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: application.postLogoutRedirectUris,
    token_endpoint_auth_method: application.tokenEndpointAuthMethod,
    upstream_provider_id: application.upstreamProviderId,
    key_count: application.jwks?.keys.length ?? 0,
    key_thumbprints: await keyThumbprints(application.jwks),
    jwks_uri: application.jwksUri,
    backchannel_logout_uri: application.backchannelLogoutUri,
    minimum_assurance: minimumAssurance,
    claims_profile: application.claimsProfile,
    serial_claimed: application.isSerialClaimed,
    entra_tenant_id: application.entraTenantId,
    entra_app_id: application.entraAppId,
    entra_cloud: application.entraCloud,
    session_seconds: application.sessionSeconds,
    enabled: application.isEnabled,
  }
}
