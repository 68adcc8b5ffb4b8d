import { sql } from 'kysely'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { fixedRetention, retention } from '../../schema/retention.ts'

/** What signing in here leaves behind; what is under way stays. */
export function attemptRetentions(days: number): RetentionPolicy[] {
  return [
    retention('sign-in attempts', days, { when: sql`r.ended_at is not null` }),
    retention('granted sessions', days, { when: sql`r.logout_due_at is null` }),
    fixedRetention('provider state'),
    fixedRetention('browser keys'),
  ]
}
