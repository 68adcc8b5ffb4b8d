/* The privacy centre over HTTP. */
import type { Kysely } from 'kysely'
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import type { PageRoute } from '../../pages/page-surface.ts'
import { textsOf } from '../../pages/texts/texts.ts'
import type { Schema } from '../../../schema/schema.ts'
import { getCataloguedCheck, listCataloguedChecks } from './check-catalogue-read.ts'
import type { KeptDays } from './kept-days.ts'
import { showCatalogue } from './show-catalogue.ts'
import { showCheck } from './show-check.ts'

export interface PrivacyDependencies {
  readonly db: Kysely<Schema>
  readonly kept: KeptDays
}

/** The catalogue of checks, for everybody. */
export function privacyRoutes({ db, kept }: PrivacyDependencies): PageRoute[] {
  return [
    {
      method: 'GET',
      path: PAGE_PATHS.privacy,
      handler: async ({ language }) => ({
        kind: 'page',
        content: showCatalogue(await listCataloguedChecks(db), kept, textsOf(language)),
      }),
    },
    {
      method: 'GET',
      path: `${PAGE_PATHS.privacy}/checks/:id`,
      handler: async ({ language, params }) => {
        const check = await getCataloguedCheck(db, params['id'] ?? '')
        return { kind: 'page', content: showCheck({ check, kept }, textsOf(language)) }
      },
    },
  ]
}
