/*
 * A version of the program that can be started: the checkout itself, or another commit of it in a temporary worktree
 * with the dependencies of its lock file.
 */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface VersionTree {
  readonly name: string
  readonly folder: string
}

/**
 * Checks a commit out into `folder`. Its dependencies are linked where its lock file is that of `root`, else installed.
 */
export async function checkOutVersion(
  root: string,
  ref: string,
  folder: string,
): Promise<VersionTree> {
  const { stdout } = await run('git', ['rev-parse', '--short', `${ref}^{commit}`], { cwd: root })
  await run('git', ['worktree', 'add', '--force', '--detach', folder, ref], { cwd: root })
  if ((await readLock(root)) === (await readLock(folder))) {
    await run('cp', ['-al', join(root, 'node_modules'), join(folder, 'node_modules')])
    // What the present version has made of itself is none of the other's.
    await rm(join(folder, 'node_modules', '.cache'), { recursive: true, force: true })
  } else {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--include=optional'], { cwd: folder })
  }
  return { name: stdout.trim(), folder }
}

/** Takes the worktree away again. */
export async function removeVersion(root: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await run('git', ['worktree', 'prune'], { cwd: root })
}

function readLock(folder: string): Promise<string> {
  return readFile(join(folder, 'package-lock.json'), 'utf8')
}
