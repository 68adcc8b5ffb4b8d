/*
 * Where the files of tests go. They come and go by the hundred thousand, which costs ext4 a sixth of the time of a run:
 * where there is memory for them they never reach a disk.
 */
import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'

const FOLDER = '/dev/shm'
const GIB = 2 ** 30
/** A run writes less than a third of it. */
const FREE_BYTES_MIN = 4 * GIB
/** Of all memory that the run may use: what it needs for its processes stays free beside the files. */
const MEMORY_BYTES_MIN = 10 * GIB

/**
 * From here on temporary files of this process, and of those that it starts, are in memory where there is room for
 * them.
 */
export function useMemoryFolder(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return
  process.env['TMPDIR'] = FOLDER
}

/** Whether temporary files are in memory, where deleting them is cheap and keeping them is not. */
export function isMemoryFolder(): boolean {
  return tmpdir() === FOLDER
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    return (
      bavail * bsize >= FREE_BYTES_MIN &&
      process.availableMemory() >= MEMORY_BYTES_MIN &&
      mayRunPrograms()
    )
  } catch {
    return false
  }
}

/** Tests install packages with programs there. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const options = mounts.findLast((line) => line.split(' ')[1] === FOLDER)?.split(' ')[3]
  return options !== undefined && !options.split(',').includes('noexec')
}
