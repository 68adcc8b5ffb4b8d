/*
 * What the organisation of the demo needs before the first device: an admin, keys, secrets whose
 * devices belong to people, and checks that block at once. Made with the use cases of the service on
 * its running database.
 */
import { createAdmin } from '../../organisation/admins/create-admin.ts'
import { findAdminByEmail } from '../../organisation/admins/find-admin.ts'
import { createApiKey } from '../../organisation/api-keys/create-api-key.ts'
import type { Change } from '../../changes/change.ts'
import { applyCheckScope } from '../../posture/checks/apply-check-scope.ts'
import { findCheckBySlug, updateCheck } from '../../posture/checks/catalogue-store.ts'
import type { Config } from '../../app/config/load-config.ts'
import { createEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { openFoundation, type ServiceFoundation } from '../../app/foundation.ts'
import { COMMAND_LINE_ORIGIN } from '../run-command.ts'

/** Somebody who owns devices. */
export interface DemoPerson {
  readonly name: string
  readonly email: string
}

/** What the demo works with; the texts are secret, but live no longer than the demo. */
export interface DemoCredentials {
  /** For the view, and for the user to try. */
  readonly key: string
  /** For the receiver that polls, so that it does not eat up the rate limit of the other. */
  readonly pollKey: string
  /** Enrollment secrets by the email address of the owner. */
  readonly secrets: ReadonlyMap<string, string>
}

/** The admin, who also owns the machine that the demo runs on. */
export const DEMO_ADMIN = { email: 'demo.admin@example.com', firstName: 'Demo', lastName: 'Admin' }

/**
 * Checks that block at once in the demo. Their defaults give days to mend a fault: too long to
 * watch.
 */
const BLOCKING_SLUGS = ['firewall', 'disk-encryption', 'screen-lock'] as const

const STREAM_PERMISSION = 'Manage Shared Signals Framework Streams'

/** Prepares the organisation in the database of the configuration. Safe to run again on a kept folder. */
export async function prepareOrganisation(
  config: Config,
  people: readonly DemoPerson[],
): Promise<DemoCredentials> {
  const services = await openFoundation(config, { purpose: 'command' })
  try {
    return await services.runChange(COMMAND_LINE_ORIGIN, async (change) => {
      await ensureAdmin(change)
      await blockAtOnce(change)
      const secrets = new Map<string, string>()
      for (const person of people) {
        secrets.set(person.email, await createSecret(change, services, person))
      }
      return {
        key: await createKey(change, services, 'Demo', 'Read the demo and manage its streams'),
        pollKey: await createKey(
          change,
          services,
          'Demo poll receiver',
          'Poll and acknowledge events',
        ),
        secrets,
      }
    })
  } finally {
    await services.close()
  }
}

async function ensureAdmin(change: Change): Promise<void> {
  if ((await findAdminByEmail(change.tx, DEMO_ADMIN.email)) !== undefined) return
  await createAdmin(change, { ...DEMO_ADMIN, access: 'full' })
}

async function createKey(
  change: Change,
  { sealer }: ServiceFoundation,
  name: string,
  rationale: string,
): Promise<string> {
  const { key } = await createApiKey(change, sealer, {
    name,
    responsibleEmail: DEMO_ADMIN.email,
    permissions: [{ permission: STREAM_PERMISSION, rationale }],
    expiresAt: null,
  })
  return key
}

async function createSecret(
  change: Change,
  { sealer }: ServiceFoundation,
  { name, email }: DemoPerson,
): Promise<string> {
  const person = await findOrCreatePerson(change, { email, name })
  const { secret } = await createEnrollmentSecret(change, sealer, {
    name: `Demo: devices of ${name}`,
    personId: person.id,
    expiresAt: null,
  })
  return secret
}

async function blockAtOnce(change: Change): Promise<void> {
  const changedIds: string[] = []
  for (const slug of BLOCKING_SLUGS) {
    const check = await findCheckBySlug(change.tx, slug)
    if (check === undefined || check.remediation_strategy === 'block_immediately') continue
    await updateCheck(change.tx, check.id, {
      remediation_strategy: 'block_immediately',
      grace_period_days: 0,
      updated_at: change.at,
    })
    change.recordAudit({
      action: 'check.configured',
      target: { type: 'check', id: check.id },
      description: `let the check ${check.name} block at once, for the demo`,
      before: { remediation_strategy: check.remediation_strategy },
      after: { remediation_strategy: 'block_immediately' },
    })
    changedIds.push(check.id)
  }
  if (changedIds.length === 0) return
  await applyCheckScope(
    change,
    { checkIds: changedIds },
    { initiatingEntity: 'admin', reason: 'The demo lets checks block at once.' },
  )
}
