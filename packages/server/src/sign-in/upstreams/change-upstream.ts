/*
 * The upstream providers: set up, changed, removed. Owns that a secret is told to no other issuer, and for no other
 * client, than those that it was given for.
 */
import type { Change } from '../../changes/change.ts'
import { auditedAs } from '../../changes/audited-record.ts'
import { AppError, conflict, invalidBody } from '../../platform/app-error.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import { givenMembers } from '../../platform/given-members.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { ProviderGateway } from '../../organisation/admin-oidc/provider-gateway.ts'
import { countApplicationsOfUpstream } from '../applications/application-store.ts'
import {
  deleteUpstream,
  getUpstream,
  insertUpstream,
  listUpstreams,
  sealUpstreamSecret,
  updateUpstream,
  type UpstreamProvider,
} from './upstream-store.ts'

/** What an upstream provider is set up with; what is left out of an edit stays. */
export interface UpstreamValues {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
}

export type UpstreamEdit = {
  readonly [Name in keyof UpstreamValues]?: UpstreamValues[Name] | undefined
}

export interface UpstreamDependencies {
  readonly sealer: Sealer
  readonly gateway: Pick<ProviderGateway, 'findTargetProblem'>
}

const UPSTREAMS_MAX = 20
const audit = auditedAs('sign_in_upstream_provider', 'upstream provider')

/** @throws AppError `limit_reached`; `target_refused`; `conflict` for a name or client that there is */
export async function createUpstream(
  change: Change,
  { clientSecret, scopes, ...values }: UpstreamValues,
  { sealer, gateway }: UpstreamDependencies,
): Promise<UpstreamProvider> {
  await lockInTransaction(change.tx, LOCK_KEYS.signInApplications)
  const some = await listUpstreams(change.tx, { afterId: undefined, limit: UPSTREAMS_MAX })
  if (some.length >= UPSTREAMS_MAX) {
    throw new AppError('limit_reached', `There are ${UPSTREAMS_MAX} upstream providers already.`)
  }
  assertTarget(gateway, values.issuer)
  const provider = await refuseTaken(async () =>
    insertUpstream(change.tx, {
      ...values,
      scopes: [...scopes],
      clientSecretSealed: sealUpstreamSecret(sealer, values, clientSecret),
      createdAt: change.at,
      updatedAt: change.at,
    }),
  )
  audit.created(change, provider, toAuditValues(provider))
  return provider
}

/**
 * Changes what is given.
 *
 * @throws AppError `not_found`; `invalid_body` for another issuer or client without its secret; `target_refused`;
 *   `conflict`
 */
export async function changeUpstream(
  change: Change,
  id: string,
  { clientSecret, scopes, ...edit }: UpstreamEdit,
  { sealer, gateway }: UpstreamDependencies,
): Promise<UpstreamProvider> {
  const before = await getUpstream(change.tx, id, { isLocked: true })
  const { issuer = before.issuer, clientId = before.clientId } = edit
  const isOther = issuer !== before.issuer || clientId !== before.clientId
  if (isOther && clientSecret === undefined) {
    const message =
      'is needed: a secret is good for the issuer and the client that it was given for'
    throw invalidBody([{ path: 'client_secret', message }])
  }
  assertTarget(gateway, issuer)
  const after = await refuseTaken(async () =>
    updateUpstream(change.tx, id, {
      ...givenMembers(edit),
      ...(scopes === undefined ? {} : { scopes: [...scopes] }),
      ...(clientSecret === undefined
        ? {}
        : { clientSecretSealed: sealUpstreamSecret(sealer, { issuer, clientId }, clientSecret) }),
      updatedAt: change.at,
    }),
  )
  audit.updated(change, after, toAuditValues(before), {
    ...toAuditValues(after),
    secret_changed: clientSecret !== undefined,
  })
  return after
}

/** @throws AppError `not_found`; `conflict` while applications use it */
export async function removeUpstream(change: Change, id: string): Promise<UpstreamProvider> {
  const provider = await getUpstream(change.tx, id, { isLocked: true })
  const count = await countApplicationsOfUpstream(change.tx, id)
  if (count > 0) throw conflict(`${count} applications know people by ${provider.name}.`)
  await deleteUpstream(change.tx, id)
  audit.deleted(change, provider, toAuditValues(provider))
  return provider
}

function assertTarget(gateway: Pick<ProviderGateway, 'findTargetProblem'>, issuer: string): void {
  const problem = gateway.findTargetProblem(issuer)
  if (problem !== undefined) throw new AppError('target_refused', problem)
}

async function refuseTaken<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict('There is an upstream provider with this name, or with this issuer and client.')
  }
}

function toAuditValues({ name, issuer, clientId, scopes }: UpstreamProvider) {
  return { name, issuer, client_id: clientId, scopes }
}
