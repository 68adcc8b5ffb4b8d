import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { BrandLogo } from '../../schema/tables/sign-in-tables.ts'
import { BRAND_COLOUR } from './kit/brand-colours.ts'
import type { PageBrand } from './kit/page.ts'

/** How the organisation presents itself, and its logo. */
export interface Brand extends PageBrand {
  readonly logo: BrandLogo | null
}

/** What the policy says, and the name of the organisation where it says none. */
export async function readBrand(db: Kysely<Schema>): Promise<Brand> {
  const row = await db
    .selectFrom('organisation as o')
    .leftJoin('sign_in_policy as p', (join) => join.onTrue())
    .select(['o.name as organisationName', 'p.brand_name as name', 'p.brand_colour as colour'])
    .select('p.brand_logo as logo')
    .executeTakeFirst()
  const colour = row?.colour?.replace('#', '').toLowerCase() ?? ''
  const logo = row?.logo ?? null
  return {
    name: row?.name ?? row?.organisationName ?? 'Heliograph',
    colour: BRAND_COLOUR.test(colour) ? colour : null,
    logo,
    logoVersion: logo === null ? null : versionOf(logo),
  }
}

function versionOf({ data }: BrandLogo): string {
  return createHash('sha256').update(data).digest('base64url').slice(0, 12)
}
