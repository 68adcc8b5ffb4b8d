/*
 * Every advisory lock of the service. A lock that is missing here could meet another one by accident;
 * a test finds locks that are taken past this list, and keys that are used twice.
 */
import type { AdvisoryLock } from '../platform/db/advisory-lock.ts'

/** The class of the locks that stand alone. */
const SINGLE = 7201

/** Locks of two integers that stand alone: what only one transaction does at a time. */
export const LOCK_KEYS = {
  /** Gives entries their places in the audit chain. */
  auditChain: [SINGLE, 1],
  /** Changes which built-in checks exist. */
  checkCatalogue: [SINGLE, 2],
  /** Decides which devices the checks run on; shared by those who add a device. */
  checkScope: [SINGLE, 3],
  /** Gives out slugs and places among the drafts of checks. */
  checkDrafts: [SINGLE, 4],
  /** Creates live query campaigns within their limit. */
  liveQueryCampaigns: [SINGLE, 7],
  /** Makes an enrollment secret that is shared by all packages once. */
  sharedEnrollmentSecrets: [SINGLE, 8],
  /** Creates webhooks within their limit. */
  webhooks: [SINGLE, 15],
  /** Makes, rotates and revokes signing keys. */
  signingKeys: [SINGLE, 16],
  /** Creates streams within their limit. */
  streams: [SINGLE, 17],
  /** Signs checkpoints of the audit chain, and makes the keys that do. */
  auditCheckpoints: [SINGLE, 18],
  /** Decides who becomes the first admin. */
  firstAdmins: [SINGLE, 19],
  /** Saves and shares views of lists within their limits. */
  savedViews: [SINGLE, 20],
  /** Sets up applications and upstream providers of sign-ins within their limits. */
  signInApplications: [SINGLE, 21],
  /** Leases ports of the live proof of devices. */
  probePorts: [SINGLE, 23],
  /** Makes and retires the keys that sign ID tokens. */
  signInKeys: [SINGLE, 22],
  /** Makes and converts partitions of tables. */
  partitions: [SINGLE, 24],
  /** Raises the first ids of what waits; shared by those who have deliveries wait again. */
  waitingDeliveries: [SINGLE, 25],
  /** Brings the views of the reporting schema up to date. */
  reportingViews: [7202, 1],
} as const satisfies Record<string, AdvisoryLock>

/** Classes whose second integer is an id: one lock for each thing of a kind. */
export const LOCK_CLASSES = {
  /** Held by a process for as long as it delivers, by the number of its worker. */
  deliveryWorkers: 7212,
  /** Held while a periodic job runs, by the number of the job. */
  jobs: 7213,
  /** Held while devices with one serial or hardware UUID come or go, by a hash of it. */
  hardware: 7214,
  /** Held for a moment to see whether two addresses lead to one database, by a random number. */
  addresses: 7215,
} as const

/** Applies migrations; 64 bits, "helio" in ASCII. Known before there is any table. */
export const MIGRATION_LOCK = 448_478_570_863n
