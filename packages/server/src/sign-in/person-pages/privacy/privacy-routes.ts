/* The privacy centre over HTTP. */
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import type { PageRoute } from '../../pages/page-surface.ts'
import { textsOf } from '../../pages/texts/texts.ts'
import { getCataloguedCheck, listCataloguedChecks } from './check-catalogue-read.ts'
import { ME_PATHS } from '../me/me-paths.ts'
import { ownPage, type PersonPagesContext } from '../session/sign-in-routes.ts'
import type { KeptDays } from './kept-days.ts'
import { listAskedLiveQueries, listLastAnswers, listOnlookers } from './my-data-read.ts'
import { showCatalogue } from './show-catalogue.ts'
import { showCheck } from './show-check.ts'
import { showMyData, toMyDataFile, type MyData } from './show-my-data.ts'

export interface PrivacyDependencies extends PersonPagesContext {
  readonly kept: KeptDays
}

/** The catalogue of checks for everybody, and what is known of the reader's own devices. */
export function privacyRoutes(dependencies: PrivacyDependencies): PageRoute[] {
  const { db, kept } = dependencies
  return [
    ...myDataRoutes(dependencies),
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

function myDataRoutes(context: PrivacyDependencies): PageRoute[] {
  return [
    ownPage(context, ME_PATHS.myData, async ({ person }, { language }) => ({
      kind: 'page',
      content: showMyData(await readMyData(context, person.id), language),
    })),
    ownPage(context, `${ME_PATHS.myData}/download`, async ({ person }) => ({
      kind: 'download',
      fileName: 'my-data.json',
      content: toMyDataFile(await readMyData(context, person.id), context.clock.now()),
    })),
  ]
}

async function readMyData({ db, clock }: PrivacyDependencies, personId: string): Promise<MyData> {
  const [answers, onlookers, liveQueries] = await Promise.all([
    listLastAnswers(db, personId),
    listOnlookers(db, clock.now()),
    listAskedLiveQueries(db, personId),
  ])
  return { answers, onlookers, liveQueries }
}
