/* The page of an issue to which a link leads, and the operation that makes the link. */
import { z } from 'zod'
import { changeRoute } from '../../../changes/change-routes.ts'
import type { Change } from '../../../changes/change.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { conflict, notFound } from '../../../platform/app-error.ts'
import { parseId } from '../../../platform/ids.ts'
import type { MasterKeys } from '../../../platform/secrets/master-key.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { requestCheckRefresh } from '../../../posture/checks/request-check-refresh.ts'
import { ISSUE_LIST } from '../../../posture/issues/issue-read.ts'
import type { ApiRoute } from '../../../schema/operations.ts'
import type { PageRequest, PageRoute } from '../../pages/page-surface.ts'
import type { Language } from '../../pages/texts/language.ts'
import type { StateWatchers } from '../../pages/state-watchers.ts'
import { listShownIssues } from '../../shown-issues/list-shown-issues.ts'
import { findFixDevice } from './fix-device-read.ts'
import {
  FIX_LINK_HOURS_DEFAULT,
  FIX_LINK_HOURS_MAX,
  fixLinkExpiry,
  fixPath,
  holderOf,
  openFixLink,
  signFixLink,
  unknownLink,
  type FixLink,
} from './fix-link.ts'
import { showFix } from './show-fix.ts'

export interface FixDependencies extends Pick<Foundation, 'db' | 'runChange' | 'clock'> {
  readonly masterKeys: MasterKeys
  readonly baseUrl: string
  readonly watchers: StateWatchers
}

const LINK_MADE = { description: 'made a link to an issue for its person' }

/** What people see who follow a link: the issue, and whether it is fixed. */
export function fixPageRoutes(dependencies: FixDependencies): PageRoute[] {
  const { clock, runChange, watchers } = dependencies
  return [
    {
      method: 'GET',
      path: fixPath(':token'),
      handler: async (request) => {
        const { token, link, device } = await open(dependencies, request)
        const { language } = request
        const issue = await readIssue(dependencies, link, language)
        const now = clock.now()
        return { kind: 'page', content: showFix({ token, link, device, issue, language, now }) }
      },
    },
    {
      method: 'POST',
      path: fixPath(':token', 'recheck'),
      handler: async (request) => {
        const { token, link } = await open(dependencies, request)
        const issue = await readIssue(dependencies, link)
        if (issue !== undefined && issue.recheck !== 'passing') {
          const origin = {
            actor: LINK_ACTOR,
            requestId: request.requestId,
            ipAddress: request.address,
          }
          await runChange(origin, (change) => askAgain(change, link.deviceId, issue.checkId))
        }
        return { kind: 'see_other', to: fixPath(token) }
      },
    },
    {
      method: 'GET',
      path: fixPath(':token', 'events'),
      handler: async (request) => {
        const { link } = await open(dependencies, request)
        const read = async () => {
          if (link.expiresAt <= clock.now()) throw unknownLink()
          const isHeld = (await findHeldDevice(dependencies, link)) !== undefined
          const issue = isHeld ? await readIssue(dependencies, link) : undefined
          const text = `${issue?.recheck ?? 'gone'} ${issue?.lastCheckedAt?.toISOString() ?? ''}`
          return { text, isMoving: issue?.recheck === 'asking' }
        }
        return {
          kind: 'events',
          stream: watchers.watch({ key: `issue ${link.issueId} of ${link.holder}`, read }),
        }
      },
    },
  ]
}

/** Whoever has the link: nobody knows who that is. */
const LINK_ACTOR = { type: 'Person', id: null, name: 'Somebody with a link', email: null } as const

/**
 * What a request's link is for.
 *
 * @throws AppError `not_found` for none of this service, an expired one, or one of a device that is somebody else's by
 * now
 */
async function open(dependencies: FixDependencies, { params }: PageRequest) {
  const token = params['token'] ?? ''
  const link = openFixLink(token, dependencies.masterKeys, dependencies.clock.now())
  const device = await findHeldDevice(dependencies, link)
  if (device === undefined) throw unknownLink()
  return { token, link, device }
}

/** The device of a link, while it is held by whom the link was made for. */
async function findHeldDevice({ db }: Pick<FixDependencies, 'db'>, { deviceId, holder }: FixLink) {
  const device = await findFixDevice(db, deviceId)
  return device !== undefined && holderOf(device) === holder ? device : undefined
}

async function askAgain(change: Change, deviceId: string, checkId: string): Promise<void> {
  await requestCheckRefresh(change, deviceId, checkId)
}

async function readIssue(
  { db, clock }: FixDependencies,
  { deviceId, issueId }: FixLink,
  language?: Language,
) {
  const at = clock.now()
  const resolvedSince = new Date(0)
  const [issue] = await listShownIssues(db, { deviceId, at, resolvedSince, issueId, language })
  return issue
}

const fixLinkSchema = z
  .object({
    url: z
      .string()
      .describe('Leads to the issue without signing in. Whoever has it may see the issue.'),
    expires_at: timestampSchema,
  })
  .meta({ id: 'FixLink' })

/** Making links, for whoever sends messages to people. */
export function fixLinkRoutes({ runChange, masterKeys, baseUrl }: FixDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      method: 'POST',
      path: '/issues/:id/fix_links',
      summary: 'Make a link to an issue for its person',
      description:
        'For chat and mail: the page shows what is wrong and what to do, and asks the device again. It works without signing in until it expires.',
      tags: ['Issues'],
      permission: 'Refresh Check',
      body: z.object({
        expires_in_hours: z.int().min(1).max(FIX_LINK_HOURS_MAX).default(FIX_LINK_HOURS_DEFAULT),
      }),
      mayConflict: true,
      responses: { 200: fixLinkSchema },
      example: { body: { expires_in_hours: 24 } },
      handler: async ({ change, params, body }) => {
        const issue = await ISSUE_LIST.get(change.tx, parseId(params.id, 'issue'))
        const { id, deviceId } = issue
        if (deviceId === null)
          throw conflict('The issue is one of a person: no device can be asked.')
        if (issue.resolvedAt !== null)
          throw conflict('The issue is resolved: there is nothing to fix.')
        const device = await findFixDevice(change.tx, deviceId)
        if (device === undefined) throw notFound('device', deviceId)
        const expiresAt = fixLinkExpiry(change.at, body.expires_in_hours)
        const holder = holderOf(device)
        const token = signFixLink({ issueId: id, deviceId, holder, expiresAt }, masterKeys)
        change.recordAudit({
          ...LINK_MADE,
          action: 'issue.fix_link_made',
          target: { type: 'issue', id },
          after: { expires_at: expiresAt.toISOString() },
        })
        return { url: `${baseUrl}${fixPath(token)}`, expires_at: toTimestamp(expiresAt) }
      },
    }),
  ]
}
