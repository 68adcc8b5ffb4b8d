/*
 * Whether what a receiver said about a subject is about an event. Pure; SSF 1.0 section 8.1.3.1, with one
 * difference: a complex subject is about an event only when the event has every member that it names, so
 * that one which names a person is not about the devices that belong to nobody.
 */
import type { ComplexSubject, SimpleSubject, SubjectIdentifier } from '@heliograph/ssf'

/** The members by which events are told apart, those of the fewest events first. */
const MEMBERS = ['device', 'user', 'tenant'] as const

type Member = (typeof MEMBERS)[number]

/**
 * What an event is about: the keys that each member of its complex subject has, whichever form the
 * subject has in the event.
 */
export type EventPrincipal = ReadonlyMap<Member, ReadonlySet<string>>

/** The principal of the event that a complex subject describes. */
export function toEventPrincipal(subject: ComplexSubject): EventPrincipal {
  return new Map(
    MEMBERS.flatMap((member) => {
      const identifier = subject[member]
      if (identifier === undefined) return []
      // A receiver may know what is identified by its id alone.
      const alone =
        identifier.format === 'iss_sub'
          ? toKeys(member, { format: 'opaque', id: identifier.sub })
          : []
      return [[member, new Set([...toKeys(member, identifier), ...alone])] as const]
    }),
  )
}

/** The keys by which what was said about an event is found; see {@link toMatchKeys}. */
export function toEventKeys(event: EventPrincipal): string[] {
  return [...event.values()].flatMap((keys) => [...keys])
}

/**
 * Names the events that a subject can be about, so that they can be looked up: such an event has one of
 * these among its keys. Of a complex subject that is the member with the fewest events.
 */
export function toMatchKeys(subject: SubjectIdentifier): string[] {
  if (subject.format !== 'complex') return toKeys('device', subject)
  const member = MEMBERS.find((name) => subject[name] !== undefined)
  const identifier = member === undefined ? undefined : subject[member]
  return member === undefined || identifier === undefined ? [] : toKeys(member, identifier)
}

/** Whether a subject is about an event. */
export function isAboutEvent(subject: SubjectIdentifier, event: EventPrincipal): boolean {
  if (subject.format !== 'complex') {
    const wanted = toKeys('device', subject)
    return hasAny(event.get('device'), wanted) || hasAny(event.get('user'), wanted)
  }
  return Object.entries(subject).every(([name, identifier]) => {
    if (identifier === undefined || typeof identifier === 'string') return true
    const member = MEMBERS.find((known) => known === name)
    return member !== undefined && hasAny(event.get(member), toKeys(member, identifier))
  })
}

function hasAny(keys: ReadonlySet<string> | undefined, wanted: readonly string[]): boolean {
  return keys !== undefined && wanted.some((key) => keys.has(key))
}

/** One key per identifier. What a tenant is called may be the id of a device too: its keys are apart. */
function toKeys(member: Member, subject: SimpleSubject): string[] {
  const prefix = member === 'tenant' ? 'tenant ' : ''
  switch (subject.format) {
    case 'aliases':
      return subject.identifiers.flatMap((identifier) => toKeys(member, identifier))
    case 'email':
      return [`${prefix}email ${subject.email.toLowerCase()}`]
    case 'iss_sub':
      return [`${prefix}iss_sub ${subject.iss} ${subject.sub}`]
    case 'opaque':
      return [`${prefix}opaque ${subject.id}`]
    default:
      // No event is about one of these.
      return []
  }
}
