import type { Kysely } from 'kysely'
import type { ServicePart } from '../../changes/foundation.ts'
import type { Schema } from '../../schema/schema.ts'
import { privacyRoutes } from '../person-pages/privacy/privacy-routes.ts'
import type { KeptDays } from '../person-pages/privacy/kept-days.ts'
import { createPageAssets } from './kit/page-assets.ts'
import { mountPageAssets } from './page-asset-routes.ts'
import { mountPages } from './page-surface.ts'
import { readBrand } from './brand-read.ts'

export interface PagesSettings {
  readonly baseUrl: string
  readonly checkTransitionRetentionDays: number
  readonly resolvedIssueRetentionDays: number
  readonly signInRetentionDays: number
}

/** The pages for people: sign-ins, their devices, and the privacy centre. */
export function createPagesPart(db: Kysely<Schema>, settings: PagesSettings): ServicePart {
  const { baseUrl } = settings
  const kept: KeptDays = {
    checkTransitions: settings.checkTransitionRetentionDays,
    resolvedIssues: settings.resolvedIssueRetentionDays,
    signIns: settings.signInRetentionDays,
  }
  const assets = createPageAssets()
  return {
    name: 'pages',
    roles: ['api'],
    mount: (http) => {
      mountPageAssets(http, { assets, findLogo: async () => (await readBrand(db)).logo })
      mountPages(
        http,
        { baseUrl, assets, readBrand: () => readBrand(db) },
        privacyRoutes({ db, kept }),
      )
    },
  }
}
