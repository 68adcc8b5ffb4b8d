/*
 * The identity provider of the organisation: how it is set up, changed and removed. Owns that its secret is told
 * to no other issuer than the one it was given for, and that nobody loses a way to sign in unsaid.
 */
import type { Change } from '../../changes/change.ts'
import { conflict, invalidBody, notFound } from '../../platform/app-error.ts'
import { givenMembers } from '../../platform/given-members.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import {
  deleteProvider,
  findProvider,
  insertProvider,
  updateProvider,
  type IdentityProvider,
} from './identity-provider-store.ts'
import { countBoundAdmins } from './identity-store.ts'
import { secretContext, type ProviderGateway } from './provider-gateway.ts'

/** What becomes of the provider; what is left out stays. */
export interface ProviderEdit {
  readonly name?: string | undefined
  readonly issuer?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly enabled?: boolean | undefined
  readonly groupClaim?: string | null | undefined
  readonly fullAccessGroups?: readonly string[] | undefined
  readonly limitedAccessGroups?: readonly string[] | undefined
  /** Whoever changes the issuer knows that nobody whom the old one knows can sign in by the new one. */
  readonly isIssuerChangeConfirmed?: boolean | undefined
}

export interface ChangeProviderDependencies {
  readonly sealer: Sealer
  readonly gateway: Pick<ProviderGateway, 'findTargetProblem'>
}

/**
 * Sets the provider up, or changes it.
 *
 * @throws AppError `invalid_body` for what is missing or cannot be asked; `conflict` for an unconfirmed change of
 *   the issuer while admins are bound to the old one
 */
export async function changeProvider(
  change: Change,
  edit: ProviderEdit,
  dependencies: ChangeProviderDependencies,
): Promise<IdentityProvider> {
  const before = await findProvider(change.tx, { isLocked: true })
  const { issuer, clientId } = readClient(before, edit)
  const problem = dependencies.gateway.findTargetProblem(issuer)
  if (problem !== undefined) throw invalidBody([{ path: 'issuer', message: problem }])
  if (before !== undefined && before.issuer !== issuer) await assertConfirmed(change, before, edit)
  const after = await write(change, before, {
    ...plainMembers(edit),
    issuer,
    client_id: clientId,
    ...sealSecret(dependencies.sealer, { issuer, clientId }, edit.clientSecret),
  })
  recordChange(change, before, after, edit.clientSecret !== undefined)
  return after
}

/** @throws AppError `invalid_body` for what is missing: a secret is told to no other issuer and for no other client */
function readClient(
  before: IdentityProvider | undefined,
  { issuer = before?.issuer, clientId = before?.clientId, clientSecret }: ProviderEdit,
): Pick<IdentityProvider, 'issuer' | 'clientId'> {
  const isSame = issuer === before?.issuer && clientId === before?.clientId
  const needed = { issuer, client_id: clientId, client_secret: isSame ? 'kept' : clientSecret }
  if (issuer !== undefined && clientId !== undefined && needed.client_secret !== undefined) {
    return { issuer, clientId }
  }
  const message = 'is needed: a secret is good for the issuer and the client that it was given for'
  const missing = Object.entries(needed).filter(([, value]) => value === undefined)
  throw invalidBody(missing.map(([path]) => ({ path, message })))
}

function sealSecret(
  sealer: Sealer,
  client: Pick<IdentityProvider, 'issuer' | 'clientId'>,
  secret: string | undefined,
): { readonly client_secret_sealed?: Buffer } {
  if (secret === undefined) return {}
  return { client_secret_sealed: sealer.seal(secret, secretContext(client)) }
}

function recordChange(
  change: Change,
  before: IdentityProvider | undefined,
  after: IdentityProvider,
  isSecretChanged: boolean,
): void {
  change.recordAudit({
    action:
      before === undefined ? 'admin_identity_provider.created' : 'admin_identity_provider.updated',
    target: { type: 'admin_identity_provider', id: after.id },
    description: `${before === undefined ? 'set up' : 'changed'} the identity provider of admins, ${after.name}`,
    ...(before === undefined ? {} : { before: toAuditValues(before) }),
    after: { ...toAuditValues(after), secret_changed: isSecretChanged },
  })
}

/** Whom the old issuer knows is not unbound, and is of use again when it is set back. */
async function assertConfirmed(
  change: Change,
  before: IdentityProvider,
  { isIssuerChangeConfirmed: isConfirmed = false }: ProviderEdit,
): Promise<void> {
  const { bound, withoutOtherWay } = await countBoundAdmins(change.tx, before.issuer)
  if (bound === 0 || isConfirmed) return
  throw conflict(
    `${bound} admins sign in by ${before.issuer}, ${withoutOtherWay} of them in no other way. By another issuer they cannot: they stay bound to the old one, and need a new link to be bound to the new one. Send issuer_change_confirmed to go on.`,
  )
}

function plainMembers({ name, enabled, groupClaim, ...edit }: ProviderEdit) {
  return givenMembers({
    name,
    enabled,
    group_claim: groupClaim,
    full_access_groups: edit.fullAccessGroups && [...edit.fullAccessGroups],
    limited_access_groups: edit.limitedAccessGroups && [...edit.limitedAccessGroups],
  })
}

type Values = ReturnType<typeof plainMembers> & {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret_sealed?: Buffer
}

async function write(
  { tx, at }: Change,
  before: IdentityProvider | undefined,
  values: Values,
): Promise<IdentityProvider> {
  if (before !== undefined) return updateProvider(tx, before.id, { ...values, updated_at: at })
  const { client_secret_sealed: sealed = Buffer.alloc(0) } = values
  const inserted = await insertProvider(tx, {
    name: new URL(values.issuer).hostname,
    enabled: true,
    ...values,
    client_secret_sealed: sealed,
    created_at: at,
    updated_at: at,
  })
  if (inserted === undefined) throw conflict('Somebody else has just set the provider up.')
  return inserted
}

/**
 * Removes the provider with its secret. Admins stay bound to its issuer, which is of use when it is set up again.
 *
 * @throws AppError `not_found`
 */
export async function removeProvider(change: Change): Promise<void> {
  const before = await findProvider(change.tx, { isLocked: true })
  if (before === undefined) throw notFound('identity provider', 'of admins')
  await deleteProvider(change.tx, before.id)
  change.recordAudit({
    action: 'admin_identity_provider.deleted',
    target: { type: 'admin_identity_provider', id: before.id },
    description: `removed the identity provider of admins, ${before.name}`,
    before: toAuditValues(before),
  })
}

function toAuditValues(provider: IdentityProvider) {
  return {
    name: provider.name,
    issuer: provider.issuer,
    client_id: provider.clientId,
    enabled: provider.enabled,
    group_claim: provider.groupClaim,
    full_access_groups: provider.fullAccessGroups,
    limited_access_groups: provider.limitedAccessGroups,
  }
}
