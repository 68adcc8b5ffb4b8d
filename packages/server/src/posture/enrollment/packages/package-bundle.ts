/*
 * Packages: what an admin puts on a device so that its osquery enrolls here. A bundle holds settings,
 * an enrollment secret, the certificate to trust, and a script that makes a service of it; osquery
 * itself comes from its own project. This file says what is in a bundle; the texts are in files/.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { toDarwinFiles } from './files/darwin-files.ts'
import { toLinuxFiles } from './files/linux-files.ts'
import { toWindowsFiles } from './files/windows-files.ts'
import type { PackageContents, PackageFile } from './package-contents.ts'

export const PACKAGE_PLATFORMS = ['darwin', 'windows', 'linux'] as const
export type PackagePlatform = (typeof PACKAGE_PLATFORMS)[number]

/** What an admin puts on the devices of a platform. */
export interface PackageBundle {
  readonly platform: PackagePlatform
  /** Another whenever a file is another. */
  readonly version: string
  /** When the newest of what it is made from was made, in whole seconds. */
  readonly builtAt: Date
  /** The folder that the archive holds. */
  readonly folder: string
  readonly files: readonly PackageFile[]
}

/** Raised with changes of what a bundle does on a device. */
const LAYOUT_VERSION = '1.0.0'
const FINGERPRINT_LENGTH = 12

const FILES_OF_PLATFORM = {
  darwin: toDarwinFiles,
  windows: toWindowsFiles,
  linux: toLinuxFiles,
} as const satisfies Record<PackagePlatform, (contents: PackageContents) => PackageFile[]>

/** The bundle of a platform; the same contents give the same bundle. */
export function toPackageBundle(
  platform: PackagePlatform,
  contents: PackageContents,
): PackageBundle {
  const files = FILES_OF_PLATFORM[platform](contents)
  const fingerprint = createHash('sha256').update(JSON.stringify(files)).digest('hex')
  return {
    platform,
    version: `${LAYOUT_VERSION}+${fingerprint.slice(0, FINGERPRINT_LENGTH)}`,
    builtAt: toBuiltAt(contents),
    folder: `heliograph-${platform}`,
    files,
  }
}

function toBuiltAt({ secretCreatedAt, caPem }: PackageContents): Date {
  const caMs = caPem === undefined ? 0 : new X509Certificate(caPem).validFromDate.getTime()
  const newestMs = Math.max(secretCreatedAt.getTime(), caMs)
  return new Date(Math.floor(newestMs / 1000) * 1000)
}
