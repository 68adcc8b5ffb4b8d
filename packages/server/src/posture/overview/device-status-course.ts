/*
 * The course of the statuses of the fleet over a time, as pictures show it.
 */
import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { listStatusCounts, type StatusCounts, type StatusCountsAt } from './status-count-store.ts'

const STEPS_MS = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '1d': DAY_MS,
} as const

/** The word for each step between two points, the shortest first. */
export const STATUS_STEPS = Object.keys(STEPS_MS) as readonly (keyof typeof STEPS_MS)[]

const POINTS_MAX = 1_000
/** As many as a picture shows, where no step is asked for. */
const USUAL_POINTS_MAX = 200
const USUAL_RANGE_MS = 7 * DAY_MS

/** What is asked for of a course. */
export interface CourseRequest {
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly step: keyof typeof STEPS_MS | undefined
}

export interface CourseDependencies {
  readonly db: Kysely<Schema>
  /** The devices of this moment by status. */
  readonly countNow: () => Promise<StatusCounts>
}

/** Which points are shown. */
export interface Course {
  readonly from: Date
  readonly to: Date
  readonly step: keyof typeof STEPS_MS
  readonly points: readonly StatusCountsAt[]
}

/**
 * Reads a course: a week up to now unless the request says otherwise. Its last point is `to`, or now where that
 * is earlier.
 *
 * @throws AppError `invalid_parameter` where `from` is not before `to`, or there would be too many points
 */
export async function readStatusCourse(
  { db, countNow }: CourseDependencies,
  request: CourseRequest,
  now: Date,
): Promise<Course> {
  const to = request.to === undefined || request.to > now ? now : request.to
  const from = request.from ?? new Date(to.getTime() - USUAL_RANGE_MS)
  const rangeMs = to.getTime() - from.getTime()
  if (rangeMs <= 0) throw invalid('`from` must be before `to`, and not in the future.')
  const step = request.step ?? findUsualStep(rangeMs)
  if (rangeMs / STEPS_MS[step] > POINTS_MAX) {
    throw invalid(`There are at most ${POINTS_MAX} points; ask for a longer \`step\`.`)
  }
  const stepSeconds = STEPS_MS[step] / SECOND_MS
  const points = await listStatusCounts(db, { from, to, stepSeconds })
  return {
    from,
    to,
    step,
    points:
      to === now
        ? withNow(points, { at: to, ...(await countNow()) })
        : await withEnd(db, points, to),
  }
}

function findUsualStep(rangeMs: number): keyof typeof STEPS_MS {
  return STATUS_STEPS.find((step) => rangeMs / STEPS_MS[step] <= USUAL_POINTS_MAX) ?? '1d'
}

function withNow(points: readonly StatusCountsAt[], end: StatusCountsAt): StatusCountsAt[] {
  return [...points.filter(({ at }) => at < end.at), end]
}

async function withEnd(
  db: Kysely<Schema>,
  points: readonly StatusCountsAt[],
  to: Date,
): Promise<StatusCountsAt[]> {
  const end = await listStatusCounts(db, { from: to, to, stepSeconds: 1 })
  return [...points.filter(({ at }) => at < to), ...end]
}

function invalid(message: string): AppError {
  return new AppError('invalid_parameter', message)
}
