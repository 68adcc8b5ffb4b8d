/* The privacy centre over HTTP. */
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import type { PageRoute } from '../../pages/page-surface.ts'
import { getCataloguedCheck, listCataloguedChecks } from './check-catalogue-read.ts'
import { ME_PATHS, ownAnswerPath } from '../me/me-paths.ts'
import { ownPage, readPersonSession, type PersonPagesContext } from '../session/sign-in-routes.ts'
import type { KeptDays } from './kept-days.ts'
import { listAskedLiveQueries, listLastAnswers, listOnlookers } from './my-data-read.ts'
import { privacyPathOf, showCatalogue } from './show-catalogue.ts'
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
        content: showCatalogue(await listCataloguedChecks(db), kept, language),
      }),
    },
    {
      method: 'GET',
      path: `${PAGE_PATHS.privacy}/checks/:id`,
      handler: async (request) => {
        const { language, params } = request
        const check = await getCataloguedCheck(db, params['id'] ?? '')
        const session = await readPersonSession(dependencies, request)
        const answers = session && (await listLastAnswers(db, session.person.id, check.id))
        return { kind: 'page', content: showCheck({ check, kept, answers, language }) }
      },
    },
    // Leads back to the check once its reader has signed in.
    ownPage(dependencies, ownAnswerPath(':id'), async (_session, { params }) => ({
      kind: 'see_other',
      to: privacyPathOf(params['id'] ?? ''),
    })),
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
