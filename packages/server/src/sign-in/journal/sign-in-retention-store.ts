import { sql } from 'kysely'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'

/** Sign-ins by when they began, whoever they were of; those under way stay. */
export function signInRetention(days: number): RetentionPolicy {
  return retention('sign-ins', days, { when: sql`r.expires_at is null` })
}
