/* What identity providers have provisioned, in figures. SQL only. */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** People and groups that identity providers keep. */
export interface ProvisioningFigures {
  readonly activeUserCount: number
  readonly inactiveUserCount: number
  readonly groupCount: number
}

/** Counts whom and what identity providers keep. */
export async function readProvisioningFigures(db: Kysely<Schema>): Promise<ProvisioningFigures> {
  const { rows } = await sql<ProvisioningFigures>`
    select count(*) filter (where deprovisioned_at is null)::float8 as "activeUserCount",
      count(*) filter (where deprovisioned_at is not null)::float8 as "inactiveUserCount",
      (select count(*) from person_group)::float8 as "groupCount"
    from person where user_name is not null and provisioning_ended_at is null`.execute(db)
  const [figures] = rows
  if (figures === undefined) throw new Error('a count has no row')
  return figures
}
