import { toFlagFile } from '../../../osquery/agent-config.ts'
import { OSQUERY_MINIMUM_VERSION } from '../../../osquery/tables/table-facts.ts'
import type { PackageContents, PackageFile } from '../package-contents.ts'

/** The names that the files have in every bundle. */
export const FLAGS_FILE = 'osquery.flags'
export const SECRET_FILE = 'enroll_secret'
export const CERTIFICATE_FILE = 'certificate.pem'

/** The places of a platform. */
export interface PlatformPlaces {
  /** Holds the files of the bundle. */
  readonly folder: string
  /** Stands between the folder and the name of a file. */
  readonly separator: '/' | '\\'
  /** Flags of the files that osquery writes. */
  readonly own: Readonly<Record<string, string>>
}

/** The files that every bundle has: flags, secret, and the certificate where there is one to pin. */
export function toSettingsFiles(
  { baseUrl, settings, enrollSecret, caPem }: PackageContents,
  { folder, separator, own }: PlatformPlaces,
): PackageFile[] {
  const place = (name: string) => `${folder}${separator}${name}`
  const flags = toFlagFile(baseUrl, settings, {
    enrollSecret: place(SECRET_FILE),
    certificate: caPem === undefined ? undefined : place(CERTIFICATE_FILE),
    own,
  })
  return [
    { name: FLAGS_FILE, text: flags, mode: 0o644 },
    { name: SECRET_FILE, text: `${enrollSecret}\n`, mode: 0o600 },
    ...(caPem === undefined
      ? []
      : [{ name: CERTIFICATE_FILE, text: caPem, mode: 0o644 } satisfies PackageFile]),
  ]
}

/** The names of the settings files, for scripts. */
export function listSettingsFiles({ caPem }: PackageContents): string[] {
  return [FLAGS_FILE, SECRET_FILE, ...(caPem === undefined ? [] : [CERTIFICATE_FILE])]
}

/** How to use a bundle. */
export interface BundleInstructions {
  readonly platformName: string
  readonly osqueryPath: string
  readonly installCommand: string
  readonly statusCommand: string
  readonly uninstallCommands: readonly string[]
}

/** The explanation that every bundle has. */
export function toReadme(contents: PackageContents, instructions: BundleInstructions): PackageFile {
  const { baseUrl } = contents
  const isPlain = new URL(baseUrl).protocol === 'http:'
  const lines = [
    `Enrolls ${instructions.platformName} devices into ${baseUrl}.`,
    '',
    `1. Install osquery ${OSQUERY_MINIMUM_VERSION} or newer from https://osquery.io/downloads, so that`,
    `   ${instructions.osqueryPath} exists. macOS 15 and newer need 5.14 or newer.`,
    '2. Unpack this archive on the device and run, with administrator rights, in its folder:',
    '',
    `     ${instructions.installCommand}`,
    '',
    'The script can be run again at any time, for example with a newer bundle. To see the service:',
    '',
    `     ${instructions.statusCommand}`,
    '',
    'To remove it:',
    '',
    ...instructions.uninstallCommands.map((command) => `     ${command}`),
    '',
    `${SECRET_FILE} lets a device enroll: keep this archive from others, and delete it afterwards.`,
    ...(isPlain
      ? [
          '',
          'osquery speaks HTTPS only, and this address is plain HTTP: give the service a certificate first.',
        ]
      : []),
  ]
  return { name: 'README.txt', text: `${lines.join('\n')}\n`, mode: 0o644 }
}
