/* What the costs at each size say: each by itself, whether they stay the same, and what a full fleet needs. */
import type { Measurement } from './scenario.ts'
import { toCpuMs, type ServiceCost } from './service-cost.ts'

export type UnitName = 'round' | 'changedRound' | 'statusChange' | 'checkIn'

export interface ScaledCosts {
  readonly devices: number
  readonly units: Readonly<Record<UnitName, ServiceCost>>
  /** On disk, history and indexes included. */
  readonly bytesPerDevice: number
  /** Of the service that has just started. */
  readonly memoryKib: number
  /** Of each device that has checked in. */
  readonly memoryBytesPerDevice: number
}

/** The largest fleet that is measured. */
export const FULL_FLEET = 1_000_000

const NAMES: Readonly<Record<UnitName, string>> = {
  round: 'a round without a change',
  changedRound: 'a round with a changed report',
  statusChange: 'a change of status',
  checkIn: 'an idle check-in',
}
const UNITS = Object.keys(NAMES) as UnitName[]
/** Of the cost with the fewest devices. */
const FLAT_RATIO_MAX = 1.25
const SECONDS_PER_HOUR = 3_600
const SECONDS_PER_DAY = 86_400
/** Held for 10 seconds, away for 5. */
const CHECK_INS_PER_SECOND = FULL_FLEET / 15
const ROUNDS_PER_SECOND = FULL_FLEET / SECONDS_PER_HOUR
/** Of the rounds, as many bring something new. */
const CHANGED_SHARE = 0.1
/** Of the devices, each day. */
const STATUS_CHANGES_SHARE = 0.02
const VCPU_TARGET = 16

const shared = { limit: undefined, ratio: undefined }

/** The lines of one size. */
export function toCostMeasurements(costs: ScaledCosts): Measurement[] {
  const { devices, units, bytesPerDevice, memoryKib, memoryBytesPerDevice } = costs
  return [
    ...UNITS.map((unit): Measurement => {
      const { serviceCpuMs, databaseCpuMs, walBytes } = units[unit]
      return {
        what: `${devices} devices: CPU time of ${NAMES[unit]}`,
        target: '-',
        measured: { value: toCpuMs(units[unit]), unit: 'ms' },
        ...shared,
        isReached: true,
        details: { service_ms: serviceCpuMs, postgresql_ms: databaseCpuMs, log_bytes: walBytes },
      }
    }),
    {
      what: `${devices} devices: database, each`,
      target: '-',
      measured: { value: bytesPerDevice / 1_024, unit: 'KiB' },
      ...shared,
      isReached: true,
      details: {},
    },
    {
      what: `${devices} devices: memory of the service, each that checked in`,
      target: '-',
      measured: { value: memoryBytesPerDevice / 1_024, unit: 'KiB' },
      ...shared,
      isReached: true,
      details: { after_start_mib: memoryKib / 1_024 },
    },
  ]
}

/** The cost with the most devices, beside that with the fewest. */
export function toFlatness(all: readonly ScaledCosts[]): Measurement[] {
  const [fewest, most] = [all[0], all.at(-1)]
  if (fewest === undefined || most === undefined || fewest === most) return []
  return UNITS.map((unit) => {
    const [value, limit] = [toCpuMs(most.units[unit]), toCpuMs(fewest.units[unit])]
    return {
      what: `CPU time of ${NAMES[unit]}, ${most.devices} devices`,
      target: `<= ${FLAT_RATIO_MAX} times that of the fewest`,
      measured: { value, unit: 'ms' },
      limit: { what: `${fewest.devices} devices`, value: limit, unit: 'ms' },
      ratio: value / limit,
      isReached: value <= limit * FLAT_RATIO_MAX,
      details: {},
    }
  })
}

/** What a million devices need that run their checks every hour, at the costs of this size. */
export function toNeedMeasurement({ devices, units }: ScaledCosts): Measurement {
  const cores = (perSecond: number, cost: ServiceCost) => (perSecond * toCpuMs(cost)) / 1_000
  const needs = {
    check_ins: cores(CHECK_INS_PER_SECOND, units.checkIn),
    rounds_without_a_change: cores(ROUNDS_PER_SECOND * (1 - CHANGED_SHARE), units.round),
    rounds_with_a_change: cores(ROUNDS_PER_SECOND * CHANGED_SHARE, units.changedRound),
    status_changes: cores(
      (FULL_FLEET * STATUS_CHANGES_SHARE) / SECONDS_PER_DAY,
      units.statusChange,
    ),
  }
  const vcpu = Object.values(needs).reduce((sum, need) => sum + need, 0)
  return {
    what: `vCPU for ${FULL_FLEET} devices, by the costs with ${devices}`,
    target: `<= ${VCPU_TARGET}`,
    measured: { value: vcpu, unit: 'vCPU' },
    ...shared,
    isReached: vcpu <= VCPU_TARGET,
    details: needs,
  }
}
