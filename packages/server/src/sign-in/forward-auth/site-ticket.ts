/*
 * The ticket by which a browser that has signed in here becomes known at a site. It travels in an address, so it is
 * good for a minute, once, at one site, and in the browser alone that began there: the site and what its cookie holds
 * are part of what is signed and not of the ticket.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS } from '../../platform/clock.ts'
import { deriveKey, type MasterKeys } from '../../platform/secrets/master-key.ts'

/** What a ticket is for. */
interface TicketUse {
  readonly sessionId: string
  readonly origin: string
  /** Of the cookie that the browser has at the site; what else the ticket is for. */
  readonly state: string
}

/** The parameter of an address that carries it. */
export const TICKET_PARAMETER = 'heliograph_ticket'

const LIFETIME_MS = MINUTE_MS
const PURPOSE = 'tickets of sites'
const SIGNATURE_BYTES = 32
const UUID_BYTES = 16
const TIME_BYTES = 6
const TICKET = /^[\w-]{72}$/

/** Makes a ticket for a session that was granted. */
export function signSiteTicket(
  use: TicketUse,
  keys: MasterKeys,
  now: Date,
  lifetimeMs: number = LIFETIME_MS,
): string {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntBE(now.getTime() + lifetimeMs, 0, TIME_BYTES)
  const payload = Buffer.concat([Buffer.from(use.sessionId.replaceAll('-', ''), 'hex'), time])
  const signature = sign(payload, use, deriveKey(keys.current, PURPOSE))
  return Buffer.concat([signature, payload]).toString('base64url')
}

/** The session that a ticket is for; undefined for one that is not good here and now. */
export function openSiteTicket(
  ticket: string,
  use: Omit<TicketUse, 'sessionId'>,
  keys: MasterKeys,
  now: Date,
): string | undefined {
  if (!TICKET.test(ticket)) return undefined
  const bytes = Buffer.from(ticket, 'base64url')
  const [signature, payload] = [bytes.subarray(0, SIGNATURE_BYTES), bytes.subarray(SIGNATURE_BYTES)]
  const isOurs = [keys.current, ...keys.previous].some((key) =>
    timingSafeEqual(signature, sign(payload, use, deriveKey(key, PURPOSE))),
  )
  const expiresMs = payload.readUIntBE(UUID_BYTES, TIME_BYTES)
  return isOurs && expiresMs > now.getTime() ? toUuid(payload.subarray(0, UUID_BYTES)) : undefined
}

function sign(
  payload: Buffer,
  { origin, state }: Pick<TicketUse, 'origin' | 'state'>,
  key: Buffer,
): Buffer {
  return createHmac('sha256', key).update(payload).update(`${origin} ${state}`).digest()
}

function toUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
