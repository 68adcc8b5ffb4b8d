import { isStreamEventType } from './event-types.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'

/** Where a SET names its subject; see {@link layOutSubject}. */
export const SET_LAYOUTS = ['v1.0', 'draft', 'both'] as const

/** Where a SET names its subject; see {@link layOutSubject}. */
export type SetLayout = (typeof SET_LAYOUTS)[number]

/** The parts of a SET that depend on the layout. */
export interface SubjectLayout {
  readonly sub_id?: SubjectIdentifier
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * Places the subject of an event: `v1.0` in `sub_id` at the top (SSF 1.0 section 3.1), `draft` in
 * `subject` inside the event as older receivers want it, `both` in both places (allowed for CAEP
 * types by SSF 1.0 section 3.1.2). Events about the stream itself carry an inner subject in the
 * `draft` layout only.
 */
export function layOutSubject(
  layout: SetLayout,
  subject: SubjectIdentifier,
  event: { readonly type: string; readonly payload: object },
): SubjectLayout {
  const hasTopSubject = layout !== 'draft'
  const hasInnerSubject =
    layout === 'draft' || (layout === 'both' && !isStreamEventType(event.type))
  const payload = hasInnerSubject ? { subject, ...event.payload } : { ...event.payload }
  const events = { [event.type]: payload }
  return hasTopSubject ? { sub_id: subject, events } : { events }
}
