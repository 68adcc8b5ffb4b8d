/*
 * What a process is made of. A part says what it brings along and in which roles of a process it is
 * needed; making one starts nothing. Who starts and stops parts is the supervisor of the application.
 */
import type { FastifyInstance } from 'fastify'
import type { MetricSource } from './http/metrics-server.ts'
import type { ApiRoute } from './http/route.ts'
import type { ReadinessCheck } from './http/health.ts'
import type { Job } from './jobs/job.ts'
import type { RetentionPolicy } from './retention/retention-policy.ts'

/** A piece of a service, with everything of it that others run. */
export interface Part<Role extends string = string> {
  readonly name: string
  /** A process starts the part, and listens for it, when it plays one of these. */
  readonly roles: readonly Role[]
  /** Operations of the REST API. */
  readonly operations?: readonly ApiRoute[]
  /** Background work; each job names the roles that run it. */
  readonly jobs?: readonly Job<Role>[]
  /** For how long it keeps what grows with time. */
  readonly retention?: readonly RetentionPolicy[]
  /** What is called with the payload of each notification on a channel of the database. */
  readonly channels?: Readonly<Record<string, (payload: string) => void>>
  /** Notifications may have been missed: called whenever listening begins anew after `start`. */
  readonly onReconnect?: () => void
  readonly metrics?: readonly MetricSource[]
  /** Rejects while the part cannot serve. */
  readonly health?: ReadinessCheck
  /** Adds its paths to the HTTP server, before anything starts. */
  readonly mount?: (http: FastifyInstance) => void
  /** Begins its work; resolves when others can rely on it. */
  readonly start?: () => Promise<void>
  /** Answers those who wait for something to happen, and ends long work, before the first part stops. */
  readonly endWaiting?: () => void
  /** Ends its work, also when `start` failed half-way. Called once. */
  readonly stop?: () => Promise<void>
}
