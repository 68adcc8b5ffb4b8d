/* The devices and issues of a person over HTTP, and what the person may ask for. */
import { conflict, notFound } from '../../../platform/app-error.ts'
import { createExemptionRequest } from '../../../posture/issues/exemptions/create-exemption-request.ts'
import { decideExemptionRequest } from '../../../posture/issues/exemptions/decide-exemption-request.ts'
import { requestCheckRefresh } from '../../../posture/checks/request-check-refresh.ts'
import { readReason } from '../../pages/issue/exemption-form.ts'
import { takeSnoozeForm } from '../../pages/issue/snooze-form.ts'
import type { PageRequest, PageRoute } from '../../pages/page-surface.ts'
import type { StateWatchers } from '../../pages/state-watchers.ts'
import { listShownIssues, type ShownIssue } from '../../shown-issues/list-shown-issues.ts'
import type { PersonSession } from '../session/person-session.ts'
import {
  ownAction,
  ownPage,
  readPersonSession,
  toPersonOrigin,
  type PersonPagesContext,
} from '../session/sign-in-routes.ts'
import { browserRoutes, listOwnBrowsers } from './browser-routes.ts'
import { confirmRoutes, listOwnRequests } from './confirm-routes.ts'
import { devicePath, ME_PATHS } from './me-paths.ts'
import { listPersonDevices, type PersonDevice } from './person-device-read.ts'
import { showMyDevices, showPersonDevice } from './show-my-devices.ts'

export interface MeContext extends PersonPagesContext {
  readonly watchers: StateWatchers
}

/** What was resolved so lately is still shown, as fixed. */
const RESOLVED_SHOWN_MS = 10 * 60_000

export function meRoutes(context: MeContext): PageRoute[] {
  const { db, clock, watchers } = context
  return [
    ownPage(context, ME_PATHS.devices, async (session, { language, query }) => {
      const { person, deviceId } = session
      const devices = await listPersonDevices(db, person.id)
      const requests = await listOwnRequests(context, session)
      const browsers = await listOwnBrowsers(context, session)
      const isCodeWrong = query['wrong_code'] === 'yes'
      const own = { devices, currentDeviceId: deviceId, personName: person.name }
      const shown = { ...own, requests, browsers, isCodeWrong }
      return {
        kind: 'page',
        content: showMyDevices({ ...shown, language, now: clock.now() }),
      }
    }),
    ownPage(context, devicePath(':id'), async (session, request) => {
      const { device, issues } = await readOwnDevice(context, session, request)
      const { language } = request
      return {
        kind: 'page',
        content: showPersonDevice({ device, issues, language, now: clock.now() }),
      }
    }),
    ownPage(context, `${devicePath(':id')}/events`, async (session, request) => {
      const read = async () => {
        // The page stays open, and the session ends meanwhile.
        const present = await readPersonSession(context, request)
        if (present === undefined) throw notFound('session', session.id)
        const { device, issues } = await readOwnDevice(context, present, request)
        const text = [device.authState, ...issues.map(stateOf)].join(' ')
        return { text, isMoving: issues.some(({ recheck }) => recheck === 'asking') }
      }
      return { kind: 'events', stream: watchers.watch({ key: `session ${session.id}`, read }) }
    }),
    ...actionRoutes(context),
    ...confirmRoutes(context),
    ...browserRoutes(context),
  ]
}

function actionRoutes(context: MeContext): PageRoute[] {
  const { runChange } = context
  return [
    ownAction(context, `${devicePath(':id')}/recheck`, async (session, request) => {
      const { device, issue } = await readNamedIssue(context, session, request)
      await runChange(toPersonOrigin(session, request), async (change) =>
        requestCheckRefresh(change, device.id, issue.checkId),
      )
      return { kind: 'see_other', to: devicePath(device.id) }
    }),
    ownAction(context, `${devicePath(':id')}/exemption`, async (session, request) => {
      const { device, issue } = await readNamedIssue(context, session, request)
      const message = readReason(request.form)
      await runChange(toPersonOrigin(session, request), async (change) =>
        createExemptionRequest(change, {
          person_id: session.person.id,
          issueIds: [issue.id],
          message,
          coversFutureIssues: false,
          expiresAt: null,
        }),
      )
      return { kind: 'see_other', to: devicePath(device.id) }
    }),
    ownAction(context, `${devicePath(':id')}/withdraw`, async (session, request) => {
      const { device, issue } = await readNamedIssue(context, session, request)
      const requestId = issue.withdrawableRequestId
      if (requestId === null) throw conflict('There is no request of yours that is not decided.')
      await runChange(toPersonOrigin(session, request), async (change) =>
        decideExemptionRequest(change, requestId, { status: 'withdrawn' }),
      )
      return { kind: 'see_other', to: devicePath(device.id) }
    }),
    ownAction(context, `${devicePath(':id')}/snooze`, async (session, request) => {
      const { device, issue } = await readNamedIssue(context, session, request)
      await runChange(toPersonOrigin(session, request), async (change) =>
        takeSnoozeForm(change, issue.id, request.form),
      )
      return { kind: 'see_other', to: devicePath(device.id) }
    }),
  ]
}

/** A device of the person, as if those of others did not exist. @throws AppError `not_found` */
async function readOwnDevice(
  { db, clock }: MeContext,
  { person }: PersonSession,
  { params, language }: PageRequest,
): Promise<{ readonly device: PersonDevice; readonly issues: readonly ShownIssue[] }> {
  const id = params['id'] ?? ''
  const device = (await listPersonDevices(db, person.id)).find((each) => each.id === id)
  if (device === undefined) throw notFound('device', id)
  const at = clock.now()
  const resolvedSince = new Date(at.getTime() - RESOLVED_SHOWN_MS)
  const wanted = { deviceId: id, at, resolvedSince, readerId: person.id, language }
  return { device, issues: await listShownIssues(db, wanted) }
}

async function readNamedIssue(context: MeContext, session: PersonSession, request: PageRequest) {
  const { device, issues } = await readOwnDevice(context, session, request)
  const id = request.form.get('issue_id') ?? ''
  const issue = issues.find((each) => each.id === id)
  if (issue === undefined) throw notFound('issue', id)
  return { device, issue }
}

function stateOf({ id, recheck, exemption, snoozedUntil, lastCheckedAt }: ShownIssue): string {
  const times = [snoozedUntil, lastCheckedAt].map((time) => time?.getTime() ?? 0)
  return [id, recheck, exemption ?? '-', ...times].join(':')
}
