/*
 * Finds files in the homes of people by bounded patterns: `%` stands for one level of folders or a part of a
 * name, and never for a tree, so that no query walks a disk. Only osquery's `file` table is read, which tells
 * names and sizes and never what is in a file.
 */
import type { CheckPlatform } from '../check-definition.ts'
import { quoteSql } from './verdict-sql.ts'

/** The folders that are homes, as patterns, with the separator at their end. */
const HOMES: Readonly<Record<CheckPlatform, readonly string[]>> = {
  darwin: ['/Users/%/'],
  windows: ['C:\\Users\\%\\'],
  linux: ['/home/%/', '/root/'],
}

/**
 * SELECT of `path`, `filename` and `size` of the files, folders left out, that lie at `places` in any home.
 * Places are relative to the home, with `/` between folders on every platform.
 */
export function homeFilesSql(platform: CheckPlatform, places: readonly string[]): string {
  return listHomePatterns(platform, places)
    .map(
      (pattern) =>
        `SELECT path, filename, size FROM file WHERE path LIKE ${quoteSql(pattern)} AND type <> 'directory'`,
    )
    .join('\nUNION ')
}

/** True where osquery sees no home at all, which says nothing about the files in them. */
export function noHomesSql(platform: CheckPlatform): string {
  const seen = HOMES[platform].map(
    (home) => `directory || '${platform === 'windows' ? '\\' : '/'}' LIKE ${quoteSql(home)}`,
  )
  return `(SELECT COUNT(*) FROM users WHERE ${seen.join(' OR ')}) = 0`
}

/** The patterns of places in all homes, as osquery takes them in `LIKE`. */
export function listHomePatterns(platform: CheckPlatform, places: readonly string[]): string[] {
  return HOMES[platform].flatMap((home) =>
    places.map((place) => home + (platform === 'windows' ? place.replaceAll('/', '\\') : place)),
  )
}
