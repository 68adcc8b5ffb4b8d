/**
 * The version before this one: a process of it works beside every migration that this one applies, so that an
 * installation is upgraded, and set back, process by process. Moved forward with each release.
 */
export const FORMER_VERSION = {
  /** The commit that it was made from; the first that works beside a newer schema. */
  ref: '61b0dbf3',
  /** Its newest migration. */
  migration: 65,
} as const
