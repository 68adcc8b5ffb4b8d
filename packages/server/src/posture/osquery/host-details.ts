import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'
import type { EnrollmentRequest } from './agent-message.ts'

/** The columns of a device that follow from what it says of itself. */
export interface HostDetails {
  readonly name: string
  readonly platform: Platform
  readonly operatingSystem: string
  readonly hardwareModel: string
  /** Null where the hardware has none that tells it apart. */
  readonly serial: string | null
  readonly hardwareUuid: string | null
  readonly osqueryVersion: string | null
}

/** The bits of osquery's `platform_type` that name an operating system. */
const WINDOWS_BIT = 2
const LINUX_BIT = 8
const MACOS_BIT = 16

/** Serials and UUIDs that makers and hypervisors leave in place of real ones. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  '-1',
  '0',
  '00000000-0000-0000-0000-000000000000',
  '03000200-0400-0500-0006-000700080009',
  'chassis serial number',
  'default string',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'n/a',
  'none',
  'not applicable',
  'not available',
  'not specified',
  'system serial number',
  'to be filled by o.e.m.',
  'unknown',
])

/** What a device is; undefined when its platform is none that the service knows checks for. */
export function readHostDetails(request: EnrollmentRequest): HostDetails | undefined {
  const system = request.details['system_info'] ?? {}
  const os = request.details['os_version'] ?? {}
  const platform = readPlatform(request.platformType, os)
  if (platform === undefined) return undefined
  return {
    name: firstText(system['computer_name'], system['hostname'], request.hostIdentifier),
    platform,
    operatingSystem: [os['name'], os['version']].filter(Boolean).join(' '),
    hardwareModel: firstText(system['hardware_model'], system['hardware_vendor'], ''),
    serial: readIdentity(system['hardware_serial']),
    hardwareUuid: readIdentity(system['uuid']),
    osqueryVersion: request.details['osquery_info']?.['version'] ?? null,
  }
}

function readPlatform(platformType: number, os: OsqueryRow): Platform | undefined {
  if ((platformType & WINDOWS_BIT) !== 0) return 'windows'
  if ((platformType & MACOS_BIT) !== 0) return 'darwin'
  if ((platformType & LINUX_BIT) !== 0) return 'linux'
  const names = [os['platform'], os['platform_like']].map((name) => name?.toLowerCase())
  if (names.includes('windows')) return 'windows'
  if (names.includes('darwin')) return 'darwin'
  const isLinux = names.some((name) => name !== undefined && LINUX_FAMILIES.test(name))
  return isLinux ? 'linux' : undefined
}

const LINUX_FAMILIES = /\b(linux|debian|ubuntu|rhel|fedora|centos|arch|suse|alpine|amzn|gentoo)\b/

function readIdentity(text: string | undefined): string | null {
  if (text === undefined || text === '' || PLACEHOLDERS.has(text.toLowerCase())) return null
  return text
}

function firstText(...texts: readonly (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== '') ?? ''
}

/**
 * Whether two machines that call themselves by one host identifier are not the same: hardware that
 * both know differs. An unknown UUID or serial proves nothing.
 */
export function isOtherHardware(
  known: Pick<HostDetails, 'hardwareUuid' | 'serial'>,
  claimed: Pick<HostDetails, 'hardwareUuid' | 'serial'>,
): boolean {
  return differs(known.hardwareUuid, claimed.hardwareUuid) || differs(known.serial, claimed.serial)
}

/**
 * Whether a machine that calls itself by the identifier of a known host leaves out hardware that is known
 * of that host: then nothing shows that they are the same.
 */
export function lacksHardware(
  known: Pick<HostDetails, 'hardwareUuid' | 'serial'>,
  claimed: Pick<HostDetails, 'hardwareUuid' | 'serial'>,
): boolean {
  return (
    (known.hardwareUuid !== null && claimed.hardwareUuid === null) ||
    (known.serial !== null && claimed.serial === null)
  )
}

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.toLowerCase() !== b.toLowerCase()
}
