/*
 * The parts of posture: devices, checks with their issues, and what is asked of devices. The intake of
 * agents is a surface; what it records is decided in this wing.
 */
import { toLogError, type Foundation, type ServicePart } from '../changes/foundation.ts'
import { SECOND_MS } from '../platform/clock.ts'
import { dueJob, periodicJob } from '../schema/jobs.ts'
import { checkResultRoutes } from './checks/check-result-routes.ts'
import { checkRoutes } from './checks/check-routes.ts'
import { checkRunRoutes } from './checks/check-run-routes.ts'
import { checkConfigurationRoutes } from './checks/configuration/check-configuration-routes.ts'
import { configurationPreviewRoutes } from './checks/configuration/preview/preview-routes.ts'
import { createPreviewer } from './checks/configuration/preview/shared-previews.ts'
import {
  readReleaseDataAges,
  warnOfStaleReleaseData,
} from './checks/release-data/release-data-health.ts'
import { customCheckDraftRoutes } from './checks/drafts/draft-routes.ts'
import { runInScopeTurns } from './checks/scope-turns.ts'
import { draftTrialRoutes } from './checks/drafts/trial/draft-trial-routes.ts'
import { deviceGroupRoutes } from './device-groups/device-group-routes.ts'
import { deleteDueDevices } from './devices/delete-due-devices.ts'
import { DEVICE_DELETION_CHANNEL } from './devices/device-deletion-store.ts'
import { deviceRoutes } from './devices/device-routes.ts'
import { deviceExplanationRoutes } from './devices/explanation/explanation-routes.ts'
import { REEVALUATE_CHANNEL } from './devices/device-status-store.ts'
import { deviceWriteRoutes } from './devices/device-write-routes.ts'
import { registerProductImages } from './devices/product-image-routes.ts'
import { registrationRequestRoutes } from './devices/registration-requests/registration-request-routes.ts'
import { settleAndFindNext } from './devices/settle-due-devices.ts'
import { reenrollmentRequestRoutes } from './enrollment/reenrollment/reenrollment-request-routes.ts'
import { enrollmentSecretRoutes } from './enrollment/secrets/enrollment-secret-routes.ts'
import { packageRoutes } from './enrollment/packages/package-routes.ts'
import { exemptionRequestRoutes } from './issues/exemptions/exemption-request-routes.ts'
import { issueRoutes } from './issues/issue-routes.ts'
import { liveQueryRoutes } from './live-queries/campaign-routes.ts'
import { toAgentSettings, type AgentTimes } from './osquery/agent-settings.ts'
import { postureRetention, type PostureRetentionSettings } from './posture-retention-store.ts'
import { reportingQueryRoutes } from './reporting/reporting-query-routes.ts'
import { reportingTableRoutes } from './reporting/reporting-table-routes.ts'
import { recordStatusCounts } from './overview/count-statuses.ts'
import type { ReportingAccess } from './reporting/sandbox/reporting-access.ts'
import { ReportingSandbox } from './reporting/sandbox/reporting-sandbox.ts'

export interface DeviceSettings {
  readonly baseUrl: string
  readonly checkIntervalSeconds: number
  readonly deviceDeletionDelaySeconds: number
}

/** Devices, their groups, and results that are reported through the API. */
export function createDevicesPart(
  { db, clock, log, runChange }: Foundation,
  { baseUrl, checkIntervalSeconds, deviceDeletionDelaySeconds }: DeviceSettings,
): ServicePart {
  const logError = toLogError(log)
  const checkIntervalMs = checkIntervalSeconds * SECOND_MS
  return {
    name: 'devices',
    roles: ['api'],
    operations: [
      ...deviceRoutes(db, baseUrl),
      ...deviceExplanationRoutes({ db, clock }),
      ...deviceWriteRoutes({ baseUrl, runChange, deviceDeletionDelaySeconds }),
      ...deviceGroupRoutes({ db, baseUrl, runChange }),
      ...checkResultRoutes({ db, clock, runChange, baseUrl, checkIntervalMs }),
      ...checkRunRoutes({ runChange }),
    ],
    mount: registerProductImages,
    jobs: [
      dueJob('device statuses', () => settleAndFindNext({ db, runChange, logError }), {
        channel: REEVALUATE_CHANNEL,
      }),
      periodicJob('device status counts', () => recordStatusCounts(db, clock.now())),
      dueJob('device deletion', () => deleteDueDevices({ db, runChange, logError }), {
        channel: DEVICE_DELETION_CHANNEL,
      }),
    ],
  }
}

export interface CheckSettings extends PostureRetentionSettings {
  readonly baseUrl: string
  /** What drafts of checks may not name. */
  readonly refusedTables: ReadonlySet<string>
}

/** For how long the pages of a preview are those of one. */
const PREVIEW_FRESH_MS = 10_000

/** Checks, the issues that they raise, and what admins decide about both. */
export function createChecksPart(
  { clock, db, log, runChange }: Foundation,
  settings: CheckSettings,
): ServicePart {
  const { baseUrl, refusedTables: refusedNames } = settings
  const runScopeChange = runInScopeTurns(runChange)
  return {
    name: 'checks',
    roles: ['api'],
    operations: [
      ...checkRoutes(db),
      ...checkConfigurationRoutes({ db, runChange: runScopeChange }),
      ...configurationPreviewRoutes(createPreviewer({ db, clock, freshMs: PREVIEW_FRESH_MS })),
      ...customCheckDraftRoutes({ db, runChange, runScopeChange, refusedNames }),
      ...draftTrialRoutes({ db, runChange, refusedNames }),
      ...exemptionRequestRoutes({ db, baseUrl, runChange }),
      ...registrationRequestRoutes({ db, baseUrl, runChange }),
      ...issueRoutes(db, baseUrl),
    ],
    retention: postureRetention(settings),
    metrics: [
      {
        name: 'heliograph_release_data_age_days',
        help: 'How many days ago each part of the release data was read from the makers of systems and browsers',
        label: 'section',
        read: () => readReleaseDataAges(db, clock.now()),
      },
    ],
    jobs: [periodicJob('release data', () => warnOfStaleReleaseData(db, { clock, log }))],
  }
}

export interface FleetSettings extends AgentTimes {
  readonly baseUrl: string
  readonly reportingResultBytesMax: number
  /** What live queries may not name. */
  readonly refusedTables: ReadonlySet<string>
}

export interface FleetFoundation extends Foundation {
  readonly reporting: ReportingAccess
}

/**
 * What is asked of the fleet of devices: live queries and reports, and the packages that enroll it.
 * `caPem` is the authority of a certificate that the service issued itself.
 */
export function createFleetPart(
  { db, clock, log, reporting, runChange, sealer }: FleetFoundation,
  settings: FleetSettings,
  caPem: string | undefined,
): ServicePart {
  const { baseUrl, reportingResultBytesMax: resultBytesMax } = settings
  const sandbox = new ReportingSandbox({ db, log, access: reporting, resultBytesMax })
  return {
    name: 'fleet',
    roles: ['api'],
    operations: [
      ...liveQueryRoutes({ db, baseUrl, refusedNames: settings.refusedTables, runChange }),
      ...reportingTableRoutes(db, baseUrl),
      ...reportingQueryRoutes({ db, clock, runChange, sandbox }),
      ...packageRoutes({ baseUrl, settings: toAgentSettings(settings), runChange, sealer, caPem }),
      ...enrollmentSecretRoutes({ db, baseUrl, clock, runChange, sealer }),
      ...reenrollmentRequestRoutes({ db, baseUrl, runChange }),
    ],
    start: () => sandbox.start(),
    stop: async () => sandbox.close(),
  }
}
