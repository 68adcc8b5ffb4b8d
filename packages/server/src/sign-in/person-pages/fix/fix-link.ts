/*
 * Links to one issue of one device, for chat and mail: whoever has one may see the issue and ask whether it is fixed,
 * without signing in, until it expires or the device is somebody else's. Nothing is stored: the link carries what it is
 * for, signed.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../platform/app-error.ts'
import { HOUR_MS } from '../../../platform/clock.ts'
import { deriveKey, type MasterKeys } from '../../../platform/secrets/master-key.ts'

/** What a link is for. */
export interface FixLink {
  readonly issueId: string
  readonly deviceId: string
  /** Whose the device was: `holderOf`. The link is for nobody else. */
  readonly holder: string
  readonly expiresAt: Date
}

export interface DeviceHolder {
  readonly ownerPersonId: string | null
  readonly registeredAt: Date | null
}

/** A link may be good for so long. */
export const FIX_LINK_HOURS_MAX = 30 * 24
export const FIX_LINK_HOURS_DEFAULT = 7 * 24

const VERSION = 2
const SIGNATURE_BYTES = 32
const PURPOSE = 'links to issues of people'
const TOKEN = /^[\w-]{60,200}$/
const PAYLOAD = /^(\d{1,2}) (\d{1,18}) (\d{1,18}) (\d{0,18}\.\d{0,13}) (\d{1,13})$/

/** Where the page of a link is. */
export function fixPath(token: string, action = ''): string {
  return `/sign-in/fix/${token}${action === '' ? '' : `/${action}`}`
}

/** Whose a device is and since when: another one once it was given away, also when it comes back. */
export function holderOf({ ownerPersonId, registeredAt }: DeviceHolder): string {
  return `${ownerPersonId ?? ''}.${registeredAt?.getTime() ?? ''}`
}

/** The token of a link. */
export function signFixLink(link: FixLink, keys: MasterKeys): string {
  const { issueId, deviceId, holder, expiresAt } = link
  const payload = Buffer.from([VERSION, issueId, deviceId, holder, expiresAt.getTime()].join(' '))
  const signature = sign(payload, deriveKey(keys.current, PURPOSE))
  return Buffer.concat([signature, payload]).toString('base64url')
}

/**
 * What a token of this service is for.
 *
 * @throws AppError `not_found` for a text that this service did not make, or that has expired
 */
export function openFixLink(token: string, keys: MasterKeys, now: Date): FixLink {
  const bytes = Buffer.from(TOKEN.test(token) ? token : '', 'base64url')
  const [signature, payload] = [bytes.subarray(0, SIGNATURE_BYTES), bytes.subarray(SIGNATURE_BYTES)]
  // Of several ways to write the same bytes one is good.
  const isPlain = bytes.toString('base64url') === token
  const isOurs = [keys.current, ...keys.previous].some((key) => {
    const expected = sign(payload, deriveKey(key, PURPOSE))
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
  const [, version, issueId, deviceId, holder, expiresMs] =
    PAYLOAD.exec(payload.toString('latin1')) ?? []
  const expiresAt = new Date(Number(expiresMs))
  const isGood = isPlain && isOurs && Number(version) === VERSION && expiresAt > now
  if (!isGood || issueId === undefined || deviceId === undefined || holder === undefined) {
    throw unknownLink()
  }
  return { issueId, deviceId, holder, expiresAt }
}

/** When a link ends that is made now. */
export function fixLinkExpiry(now: Date, hours: number = FIX_LINK_HOURS_DEFAULT): Date {
  return new Date(now.getTime() + hours * HOUR_MS)
}

function sign(payload: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(payload).digest()
}

/** Whoever has a link learns nothing of why it is no longer one. */
export function unknownLink(): AppError {
  return new AppError('not_found', 'The link is none of this service, or it has expired.')
}
