/** The operating systems whose osquery tables and quirks the simulator knows. */
export type Platform = 'darwin' | 'linux' | 'windows'

export const PLATFORMS: readonly Platform[] = ['darwin', 'linux', 'windows']

/**
 * The decimal string that osquery sends as `platform_type` when it enrolls: a bit mask of
 * posix 1, windows 2, linux 8 and macOS 16 (macOS also carries bit 4, bsd).
 */
export const PLATFORM_TYPE: Readonly<Record<Platform, string>> = {
  darwin: '21',
  linux: '9',
  windows: '2',
}
