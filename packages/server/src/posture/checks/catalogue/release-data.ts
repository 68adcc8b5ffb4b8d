// The releases that the version checks compare with. Each table names its source and the day on which
// it was read; a newer release than the newest listed always passes. Raising a number here changes
// SQL, so the revisions of the checks that use it are raised too.

export interface ReleaseSource {
  readonly source: string
  /** The day on which the source said so, `YYYY-MM-DD`. */
  readonly asOf: string
}

/** A macOS version line that still gets security updates, with its newest security update. */
interface MacosRelease {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

export const MACOS_RELEASES: ReleaseSource & { readonly releases: readonly MacosRelease[] } = {
  source: 'https://endoflife.date/macos, after https://support.apple.com/100100',
  asOf: '2026-03-04',
  releases: [
    { major: 14, minor: 8, patch: 4 },
    { major: 15, minor: 7, patch: 4 },
    { major: 26, minor: 3, patch: 1 },
  ],
}

/** A Windows build and the last days of its servicing. */
interface WindowsRelease {
  readonly build: number
  readonly name: string
  /** Home and Pro editions, `YYYY-MM-DD`. */
  readonly homeUntil: string
  /** Enterprise and Education editions, `YYYY-MM-DD`. */
  readonly enterpriseUntil: string
}

export const WINDOWS_RELEASES: ReleaseSource & { readonly releases: readonly WindowsRelease[] } = {
  source: 'https://learn.microsoft.com/lifecycle/products/windows-11-home-and-pro',
  asOf: '2025-10-14',
  releases: [
    { build: 19045, name: '10 22H2', homeUntil: '2025-10-14', enterpriseUntil: '2025-10-14' },
    { build: 22000, name: '11 21H2', homeUntil: '2023-10-10', enterpriseUntil: '2024-10-08' },
    { build: 22621, name: '11 22H2', homeUntil: '2024-10-08', enterpriseUntil: '2025-10-14' },
    { build: 22631, name: '11 23H2', homeUntil: '2025-11-11', enterpriseUntil: '2026-11-10' },
    { build: 26100, name: '11 24H2', homeUntil: '2026-10-13', enterpriseUntil: '2027-10-12' },
    { build: 26200, name: '11 25H2', homeUntil: '2027-10-12', enterpriseUntil: '2028-10-10' },
  ],
}

/** A Linux distribution's release and the last day of its free security support. */
interface LinuxRelease {
  /** As in `os_version.platform`. */
  readonly platform: string
  readonly major: number
  /** Only where a distribution has several releases with one major number. */
  readonly minor: number
  readonly until: string
}

export const LINUX_RELEASES: ReleaseSource & { readonly releases: readonly LinuxRelease[] } = {
  source: 'https://endoflife.date (ubuntu, debian, fedora, rhel)',
  asOf: '2026-04-23',
  releases: [
    { platform: 'ubuntu', major: 22, minor: 4, until: '2027-04-01' },
    { platform: 'ubuntu', major: 24, minor: 4, until: '2029-05-31' },
    { platform: 'ubuntu', major: 25, minor: 10, until: '2026-07-01' },
    { platform: 'ubuntu', major: 26, minor: 4, until: '2031-04-30' },
    { platform: 'debian', major: 12, minor: 0, until: '2028-06-10' },
    { platform: 'debian', major: 13, minor: 0, until: '2030-06-30' },
    { platform: 'fedora', major: 42, minor: 0, until: '2026-05-13' },
    { platform: 'fedora', major: 43, minor: 0, until: '2026-12-09' },
    { platform: 'rhel', major: 8, minor: 0, until: '2029-05-31' },
    { platform: 'rhel', major: 9, minor: 0, until: '2032-05-31' },
    { platform: 'rhel', major: 10, minor: 0, until: '2035-05-31' },
  ],
}

/** The lowest major version of each browser that passes. */
export const BROWSER_RELEASES: ReleaseSource & {
  readonly chrome: number
  readonly edge: number
  readonly firefox: number
} = {
  source: 'https://endoflife.date/chrome and https://endoflife.date/firefox',
  asOf: '2026-02-10',
  chrome: 143,
  edge: 143,
  firefox: 140,
}
