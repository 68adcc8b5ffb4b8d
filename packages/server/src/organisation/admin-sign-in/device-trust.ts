/*
 * That a session is used from a device which is trusted now, where the organisation asks its admins for that. Owns what
 * is asked and what is said where it is not so; which device is trusted, and how a session is bound to one, is decided
 * where people sign in.
 */
import type { RawBuilder } from 'kysely'
import { AppError } from '../../platform/app-error.ts'

/** Why a session is not bound to a trusted device. */
export const DEVICE_PROBLEMS = [
  'unbound',
  'proof_ended',
  'other_person',
  'person_switched_off',
  'assurance_too_low',
  'device_gone',
  'device_blocked',
] as const

export type DeviceProblem = (typeof DEVICE_PROBLEMS)[number]

/** Decides in the statement that finds a session whether its device is trusted. */
export interface DeviceTrust {
  /**
   * What is wrong with the device that the row `session` of `admin_session` is bound to, for its admin, the row
   * `admin_user`; null where the device is trusted.
   */
  readonly problem: () => RawBuilder<DeviceProblem | null>
  /**
   * Whether the organisation asked for devices when this process last looked. Says what is put into one statement, for
   * planning it costs more than the rest; never what is decided.
   */
  wasRequired: boolean
}

const MESSAGES: Readonly<Record<DeviceProblem, string>> = {
  unbound: 'This session has not proven yet on which device it is.',
  proof_ended: 'The proof of the device is over. Prove the device again.',
  other_person: 'The person who proved the device has another email address than you as an admin.',
  person_switched_off: 'The person with your email address is switched off.',
  assurance_too_low:
    'The device was not proven: the key of a browser and the break-glass group do not count here.',
  device_gone: 'The device is not registered to you any more, or not enrolled.',
  device_blocked: 'Your device is Blocked. What blocks it, and how to fix it, is at /sign-in/me.',
}

/** What of a session says whether it may be used. */
interface GatedSession {
  readonly isDeviceRequired: boolean
  /** Undefined where it was not looked at. */
  readonly deviceProblem: DeviceProblem | null | undefined
}

/**
 * Refuses a session that is not bound to a trusted device, where the organisation asks for one.
 *
 * @throws AppError `trusted_device_required`
 */
export function assertTrustedDevice({ isDeviceRequired, deviceProblem }: GatedSession): void {
  if (isDeviceRequired && deviceProblem !== null) throw deviceRefused(deviceProblem ?? 'unbound')
}

/** The refusal of a session because of its device. */
export function deviceRefused(problem: DeviceProblem): AppError {
  return new AppError('trusted_device_required', MESSAGES[problem])
}
