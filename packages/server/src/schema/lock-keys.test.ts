import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOCK_CLASSES, LOCK_KEYS } from './lock-keys.ts'

const SOURCES = join(import.meta.dirname, '..')
/** Where locks are taken by hand: the mechanism itself, and what must not depend on it. */
const TAKERS = ['platform/db/advisory-lock.ts', 'platform/db/listener.ts', 'schema/migrate.ts']

test('no two purposes share an advisory lock', () => {
  const locks = Object.values(LOCK_KEYS).map((lock) => lock.join('/'))
  expect(new Set(locks).size).toBe(locks.length)
  const classes: number[] = Object.values(LOCK_CLASSES)
  expect(new Set(classes).size).toBe(classes.length)
  for (const [lockClass] of Object.values(LOCK_KEYS)) expect(classes).not.toContain(lockClass)
})

test('every advisory lock is taken by its key in the registry', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  const takers = files.filter((file) =>
    /pg_(try_)?advisory/.test(readFileSync(join(SOURCES, file), 'utf8')),
  )
  expect(takers.sort()).toEqual(TAKERS)
})

test('the migrations lock what the registry says', () => {
  const folder = join(SOURCES, 'schema/migrations')
  const taken = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/pg_advisory_xact_lock\(([^)]*)\)/g)].map(
      ([, keys]) => keys,
    ),
  )
  expect(new Set(taken)).toEqual(new Set([LOCK_KEYS.auditChain.join(', ')]))
})
