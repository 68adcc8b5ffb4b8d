/*
 * What the organisation of the demo needs before the first device: an admin, keys, secrets whose
 * devices belong to people, checks that block at once, and an application that people sign in to. Made with the use
 * cases of the service on its running database.
 */
import type { Config } from '../../app/config/load-config.ts'
import { openFoundation } from '../../app/foundation.ts'
import type { Change } from '../../changes/change.ts'
import { toConsoleSite, toSignInAddress } from '../../organisation/admin-sign-in/console-site.ts'
import { issueLink } from '../../organisation/admin-sign-in/sign-in-link.ts'
import { createAdmin } from '../../organisation/admins/create-admin.ts'
import { findAdminByEmail } from '../../organisation/admins/find-admin.ts'
import { createApiKey } from '../../organisation/api-keys/create-api-key.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { findCheckBySlug } from '../../posture/checks/catalogue-store.ts'
import { configureCheck } from '../../posture/checks/configuration/configure-check.ts'
import { createEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { changeSignInPolicy } from '../../sign-in/policy/change-policy.ts'
import { COMMAND_LINE_ORIGIN } from '../run-command.ts'
import {
  createTrialApplication,
  type TrialCredentials,
} from './try-sign-in/create-trial-application.ts'

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
  /** Signs the admin in to the console, once. */
  readonly consoleUrl: string
  /** Enrollment secrets by the email address of the owner. */
  readonly secrets: ReadonlyMap<string, string>
  /** The application that visitors sign in to. */
  readonly application: TrialCredentials
}

const ADMIN = { email: 'demo.admin@example.com', firstName: 'Demo', lastName: 'Admin' }

/** The admin, who also owns the machine that the demo runs on. */
export const DEMO_ADMIN: DemoPerson = {
  email: ADMIN.email,
  name: `${ADMIN.firstName} ${ADMIN.lastName}`,
}

/**
 * Checks that block at once in the demo. Their defaults give days to mend a fault: too long to
 * watch.
 */
const BLOCKING_SLUGS = ['firewall', 'disk-encryption', 'screen-lock'] as const

const STREAM_PERMISSION = 'Manage Shared Signals Framework Streams'

/**
 * Prepares the organisation in the database of the configuration for the admin and these people. Safe
 * to run again on a kept folder.
 *
 * @param redirectUri where the application takes its answers
 */
export async function prepareOrganisation(
  config: Config,
  people: readonly DemoPerson[],
  redirectUri: string,
): Promise<DemoCredentials> {
  const { close, runChange, sealer } = await openFoundation(config, { purpose: 'command' })
  try {
    return await runChange(COMMAND_LINE_ORIGIN, async (change) => {
      await blockAtOnce(change)
      const admin =
        (await findAdminByEmail(change.tx, ADMIN.email)) ??
        (await createAdmin(change, { ...ADMIN, access: 'full' }))
      const { token } = await issueLink(change, admin, 'demo')
      const secrets = new Map<string, string>()
      for (const person of [...people, DEMO_ADMIN]) {
        secrets.set(person.email, await createSecret(change, sealer, person))
      }
      const createKey = async (name: string, rationale: string) => {
        const { key } = await createApiKey(change, sealer, {
          name,
          responsibleEmail: ADMIN.email,
          permissions: [{ permission: STREAM_PERMISSION, rationale }],
          expiresAt: null,
        })
        return key
      }
      // Where no device can be seen, an admin lets people in.
      await changeSignInPolicy(change, { fallbacks: ['admin_approval'] })
      return {
        application: await createTrialApplication(change, sealer, redirectUri),
        consoleUrl: toSignInAddress(toConsoleSite(config.baseUrl), token),
        key: await createKey('Demo', 'Read the demo and manage its streams'),
        pollKey: await createKey('Demo poll receiver', 'Poll and acknowledge events'),
        secrets,
      }
    })
  } finally {
    await close()
  }
}

async function createSecret(
  change: Change,
  sealer: Sealer,
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
  for (const slug of BLOCKING_SLUGS) {
    const check = await findCheckBySlug(change.tx, slug)
    if (check === undefined) continue
    await configureCheck(change, check.id, {
      remediation_strategy: 'block_immediately',
      block_auth_grace_period_days: 0,
    })
  }
}
