import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import type { RerunAnswers } from '../../posture/checks/rerun-answers.ts'
import { fixLinkRoutes, fixPageRoutes } from '../person-pages/fix/fix-routes.ts'
import type { KeptDays } from '../person-pages/privacy/kept-days.ts'
import { privacyRoutes } from '../person-pages/privacy/privacy-routes.ts'
import { registrationPageRoutes } from '../registration/registration-endpoints.ts'
import { meRoutes } from '../person-pages/me/me-routes.ts'
import { personSignInRoutes } from '../person-pages/session/sign-in-routes.ts'
import { attemptPageRoutes } from './attempt/attempt-page-routes.ts'
import { readBrand } from './brand-read.ts'
import { createPageAssets } from './kit/page-assets.ts'
import { mountPageAssets } from './page-asset-routes.ts'
import { mountPages, refuseUnknownPages } from './page-surface.ts'
import { StateWatchers } from './state-watchers.ts'

/** What pages stand on. */
export interface PagesFoundation extends Pick<Foundation, 'db' | 'runChange' | 'clock' | 'log'> {
  readonly masterKeys: MasterKeys
  readonly reruns: RerunAnswers
}

export interface PagesSettings {
  readonly baseUrl: string
  readonly checkTransitionRetentionDays: number
  readonly resolvedIssueRetentionDays: number
  readonly signInRetentionDays: number
}

/** The pages for people: their issues, and the privacy centre. */
export function createPagesPart(foundation: PagesFoundation, settings: PagesSettings): ServicePart {
  const { baseUrl } = settings
  const { db } = foundation
  const assets = createPageAssets()
  const watchers = new StateWatchers()
  const context = { ...foundation, baseUrl, watchers }
  return {
    name: 'pages',
    roles: ['api'],
    operations: fixLinkRoutes(context),
    mount: (http) => {
      mountPageAssets(http, { assets, findLogo: async () => (await readBrand(db)).logo })
      const site = { baseUrl, assets, readBrand: () => readBrand(db) }
      refuseUnknownPages(http, site, '/sign-in')
      mountPages(http, site, [
        ...attemptPageRoutes(context),
        ...privacyRoutes({ ...context, kept: toKeptDays(settings) }),
        ...fixPageRoutes(context),
        ...personSignInRoutes(context),
        ...meRoutes(context),
        ...registrationPageRoutes(context),
      ])
    },
    endWaiting: () => watchers.end(),
    stop: async () => watchers.end(),
  }
}

function toKeptDays(settings: PagesSettings): KeptDays {
  return {
    checkTransitions: settings.checkTransitionRetentionDays,
    resolvedIssues: settings.resolvedIssueRetentionDays,
    signIns: settings.signInRetentionDays,
  }
}
