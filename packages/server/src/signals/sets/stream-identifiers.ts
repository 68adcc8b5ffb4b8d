/*
 * How the events of a stream name devices and people: by what everybody knows them by, or by pairwise
 * identifiers, which are derived from a secret of the stream. Those are stable for the stream, and nobody
 * can find out that identifiers of two streams are of one device.
 */
import { createHmac } from 'node:crypto'
import type { SubjectIdentifier } from '@heliograph/ssf'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import { isEmail } from '../../platform/parse-text.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { pairwiseSecretContext } from '../streams/stream-choices.ts'
import type { Stream } from '../streams/stream-store.ts'

type Device = DeviceStatusChange['device']
/** What events are named by: null where no device had to be proven. */
interface NamedDevice extends Pick<Device, 'owner'> {
  readonly id: string | null
}

type SimpleIdentifier = Exclude<SubjectIdentifier, { readonly format: 'complex' }>

/** What identifiers depend on of a stream. */
export type IdentifyingStream = Pick<
  Stream,
  | 'streamId'
  | 'issuer'
  | 'subjectForm'
  | 'hasOpaqueIdentifiers'
  | 'hasPairwiseIdentifiers'
  | 'pairwiseSecretSealed'
>

/**
 * The subject of the events about a device; undefined when the stream names people and nobody owns the
 * device.
 *
 * @throws UnsealError when the secret of pairwise identifiers does not open
 */
export function toDeviceSubject(
  stream: IdentifyingStream,
  device: NamedDevice,
  sealer: Pick<Sealer, 'open'>,
): SubjectIdentifier | undefined {
  const derive = pairwiseDerivation(stream, sealer)
  const deviceSubject =
    device.id === null
      ? undefined
      : toIdentifier(stream, derive === undefined ? device.id : derive('device', device.id))
  const owner = toOwner(stream, device, derive)
  switch (stream.subjectForm) {
    case 'iss_sub':
      return deviceSubject
    case 'email':
      return owner
    case 'complex':
      return {
        format: 'complex',
        ...(deviceSubject === undefined ? {} : { device: deviceSubject }),
        ...(owner === undefined ? {} : { user: owner }),
        tenant: { format: 'opaque', id: new URL(stream.issuer).host },
      }
  }
}

/** A session that was granted to a person on a device. */
interface NamedSession {
  /** What the application of the session knows it by. */
  readonly sid: string
  readonly deviceId: string | null
  readonly person: NonNullable<Device['owner']>
}

/**
 * The subject of the events about a session, for every stream the complex one: a person or a device alone would stand
 * for all their sessions. CAEP 1.0 section 3.1.
 *
 * @throws UnsealError when the secret of pairwise identifiers does not open
 */
export function toSessionSubject(
  stream: IdentifyingStream,
  { sid, deviceId, person }: NamedSession,
  sealer: Pick<Sealer, 'open'>,
): SubjectIdentifier {
  const id = pairwiseDerivation(stream, sealer)?.('session', sid) ?? sid
  const device = { id: deviceId, owner: person }
  const others = toDeviceSubject({ ...stream, subjectForm: 'complex' }, device, sealer)
  const members = others?.format === 'complex' ? others : {}
  return { ...members, format: 'complex', session: { format: 'opaque', id } }
}

/**
 * How the events of a stream name a person; undefined when they have no address that events could carry.
 *
 * @throws UnsealError when the secret of pairwise identifiers does not open
 */
export function toPersonSubject(
  stream: IdentifyingStream,
  person: NonNullable<Device['owner']>,
  sealer: Pick<Sealer, 'open'>,
): SubjectIdentifier | undefined {
  return toOwner(stream, { owner: person }, pairwiseDerivation(stream, sealer))
}

/** The identifier of a cause in the events of a stream: a shared one would join the events of two. */
export function toStreamTxn(
  stream: IdentifyingStream,
  txn: string,
  sealer: Pick<Sealer, 'open'>,
): string {
  return pairwiseDerivation(stream, sealer)?.('txn', txn) ?? txn
}

type Derive = (kind: 'device' | 'person' | 'session' | 'txn', id: string) => string

function toOwner(
  stream: IdentifyingStream,
  { owner }: Pick<Device, 'owner'>,
  derive: Derive | undefined,
): SimpleIdentifier | undefined {
  if (owner === null) return undefined
  if (derive === undefined) return toAddress(owner.email)
  return toIdentifier(stream, derive('person', owner.personId))
}

/** A person whom the identity provider gave no address is named by none: receivers would refuse the event. */
function toAddress(email: string): SimpleIdentifier | undefined {
  return isEmail(email) ? { format: 'email', email } : undefined
}

/** What is known by an id that only its issuer gives a meaning to. */
function toIdentifier(stream: IdentifyingStream, id: string): SimpleIdentifier {
  return stream.hasOpaqueIdentifiers
    ? { format: 'opaque', id }
    : { format: 'iss_sub', iss: stream.issuer, sub: id }
}

/** 160 bits: no two are equal by accident, and none can be found by trying ids without the secret. */
const IDENTIFIER_BYTES = 20

function pairwiseDerivation(
  stream: IdentifyingStream,
  sealer: Pick<Sealer, 'open'>,
): Derive | undefined {
  const { hasPairwiseIdentifiers: isPairwise, pairwiseSecretSealed: sealed } = stream
  if (!isPairwise) return undefined
  if (sealed === null) throw new Error('a stream with pairwise identifiers needs its secret')
  const secret = sealer.open(sealed, pairwiseSecretContext(stream.streamId))
  return (kind, id) =>
    createHmac('sha256', secret)
      .update(`${kind}:${id}`)
      .digest()
      .subarray(0, IDENTIFIER_BYTES)
      .toString('base64url')
}
